// Decides whether a job is to run now, and when to look again.
import type { Job, JobState } from "./job.ts";
import { dueAfter, parseSchedule } from "./schedule.ts";

export type JobStep =
  /** Nothing is due; `until`: ms since the epoch, null = never again. */
  | { kind: "wait"; until: number | null }
  /** It runs, or its schedule cannot be read. */
  | { kind: "nothing" }
  /** `settledUntil` and `askedUntil` are what its state becomes before it begins. */
  | { kind: "run" | "skip"; due: number; missed: number; settledUntil: number; askedUntil: number };

/** A job that was away for long does not count further. */
const MOST_MISSED = 1_000;
/**
 * A state that is further ahead was written by a clock that was wrong, and must not keep a job from
 * running until then, ms.
 */
const MOST_AHEAD_MS = 2 * 86_400_000;

/**
 * Pure. Of several moments that were missed only the last is run, once; whatever the clock does,
 * none is run that was settled before.
 */
export function planJob(job: Job, state: JobState, now: number): JobStep {
  if (state.run !== null) return { kind: "nothing" };
  const { settledUntil, askedUntil } = state;
  if (job.askedAt > askedUntil)
    return { kind: "run", due: job.askedAt, missed: 0, settledUntil, askedUntil: job.askedAt };
  const parsed = parseSchedule(job.schedule, job.timeZone);
  if (!job.enabled || !parsed.ok) return { kind: "nothing" };
  const { schedule } = parsed;
  const known = settledUntil > now + MOST_AHEAD_MS ? now : settledUntil;
  const next = (after: number) => dueAfter(schedule, after, job.createdAt);
  let due = next(Math.max(known, job.enabledAt));
  if (due === null || due > now) return { kind: "wait", until: due };
  let missed = 0;
  for (let later = next(due); later !== null && later <= now; later = next(later)) {
    due = later;
    missed++;
    if (missed === MOST_MISSED) {
      due = lastBefore(now, next, due);
      break;
    }
  }
  const isLate = now - due > job.maxLateMinutes * 60_000;
  return { kind: isLate ? "skip" : "run", due, missed, settledUntil: due, askedUntil };
}

/** The newest that is due by `now`, found from ever closer to it. */
function lastBefore(now: number, next: (after: number) => number | null, least: number): number {
  for (let back = 60_000; ; back *= 2) {
    const from = Math.max(least, now - back);
    let due = next(from);
    if (due !== null && due <= now) {
      for (let later = next(due); later !== null && later <= now; later = next(later)) due = later;
      return due;
    }
    if (from === least) return least;
  }
}
