// Decides whether a job is to run now, and when to look again.
import type { Job, JobState } from "./job.ts";
import { dueAfter, parseSchedule } from "./schedule.ts";

export type JobStep =
  /** Nothing is due; `until`: ms since the epoch, null = never again. */
  | { kind: "wait"; until: number | null }
  /** It runs, or its schedule cannot be read. */
  | { kind: "nothing" }
  /** `settled` is what its state becomes before it begins. */
  | { kind: "run" | "skip"; due: number; missed: number; settled: Partial<JobState> };

/** A job that was away for long does not count further. */
const MOST_MISSED = 1_000;
/** What is further ahead was written by a clock that was wrong, ms. */
const MOST_AHEAD_MS = 2 * 86_400_000;

/**
 * Pure. A state from which the job goes on, where a wrong clock would keep it from running until
 * then; undefined: it does anyway. To be written down, so that moments after `now` come due.
 */
export function planClockMend(job: Job, state: JobState, now: number): JobState | undefined {
  const { settledUntil, aheadUntil = 0 } = state;
  const isAhead = (moment: number) => moment > now + MOST_AHEAD_MS;
  const isSetOff = isAhead(job.enabledAt) && job.enabledAt > aheadUntil;
  if (!isAhead(settledUntil) && !isSetOff) return undefined;
  return {
    ...{ ...state, settledUntil: isAhead(settledUntil) ? now : Math.max(settledUntil, now) },
    aheadUntil: Math.max(settledUntil, aheadUntil, isSetOff ? job.enabledAt : 0),
  };
}

/**
 * Pure. Of several moments that were missed only the last is run, once; none is run that was
 * settled before, unless by a clock that was far ahead.
 */
export function planJob(job: Job, state: JobState, now: number): JobStep {
  if (state.run !== null) return { kind: "nothing" };
  if (job.askedAt > state.askedUntil)
    return { kind: "run", due: job.askedAt, missed: 0, settled: { askedUntil: job.askedAt } };
  const parsed = parseSchedule(job.schedule, job.timeZone);
  if (!job.enabled || !parsed.ok) return { kind: "nothing" };
  const { schedule } = parsed;
  const next = (after: number) => dueAfter(schedule, after, job.createdAt);
  let due = next(settledBy(job, state, schedule.kind === "at" ? Infinity : now));
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
  return { kind: isLate ? "skip" : "run", due, missed, settled: { settledUntil: due } };
}

/** What a wrong clock wrote counts only as far as `now`. */
function settledBy({ enabledAt }: Job, state: JobState, now: number): number {
  const { settledUntil, aheadUntil } = state;
  if (aheadUntil === undefined) return Math.max(settledUntil, enabledAt);
  return Math.max(settledUntil, ...[aheadUntil, enabledAt].filter((moment) => moment <= now));
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
