// What is known of a job, from what a person asked for to how its runs went.
import { z } from "zod";
import { isSafeId } from "../sessions/keys.ts";

const moment = z.number().int().nonnegative();

/** What a person asked for; no gateway writes it. */
export const JobSchema = z.object({
  v: z.literal(1),
  id: z.string().refine(isSafeId, "must be letters, digits, dots, dashes or underscores"),
  /** Canonical key of the session in which it runs. */
  session: z.string().min(1),
  message: z.string().min(1),
  /** As it was said; see `parseSchedule`. */
  schedule: z.string().min(1),
  timeZone: z.string().min(1),
  /** heartbeat: engines are told that nobody asked. */
  kind: z.enum(["cron", "heartbeat"]),
  enabled: z.boolean(),
  /** When it was made, ms since the epoch; "every" counts from here. */
  createdAt: moment,
  /** Since when it is enabled: what was due before is not made up for. */
  enabledAt: moment,
  /** A run that comes later than this is left out, minutes. */
  maxLateMinutes: z.number().positive(),
  /** When a person last asked for a run beside the schedule; 0 = never. */
  askedAt: moment,
});
export type Job = z.infer<typeof JobSchema>;

/** How far it is; only the gateway of the home writes it. */
export const JobStateSchema = z.object({
  v: z.literal(1),
  /** The moment up to which everything due was run or left out, ms since the epoch. */
  settledUntil: moment,
  /**
   * Up to where a clock that was far ahead settled it, or set it going. Absent: none was. Counts
   * again when the clock comes there, and always where it runs only once.
   */
  aheadUntil: moment.optional(),
  /** `askedAt` of the newest request that was taken. */
  askedUntil: moment,
  /** Written before it begins, and taken back when it is over; null = none runs. */
  run: z.object({ due: moment, startedAt: moment, missed: moment }).nullable(),
});
export type JobState = z.infer<typeof JobStateSchema>;

export const NEW_STATE: JobState = { v: 1, settledUntil: 0, askedUntil: 0, run: null };

/** How one run went. */
export const JobRunSchema = z.object({
  /** When it was due, ms since the epoch. */
  due: moment,
  startedAt: moment,
  endedAt: moment,
  /** interrupted: the gateway ended meanwhile; it is not run again. skipped: it was too late. */
  outcome: z.enum(["completed", "failed", "aborted", "interrupted", "skipped"]),
  /** Why it is no completed one. */
  reason: z.string().optional(),
  /** How many more were due before it and not run. */
  missed: moment,
  /** How the answer begins. */
  answer: z.string().optional(),
});
export type JobRun = z.infer<typeof JobRunSchema>;
