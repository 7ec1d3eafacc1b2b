// Decides whether a gateway has been blocked, or has answered nobody, for too long.

export interface Watched {
  /** How often it had beaten at the last look. */
  beats: number;
  /** Since it beat last, ms. */
  blockedMs: number;
  /** When the last look was, on a clock that only goes forward, ms. */
  lookedAt: number;
  /** True: it was too long already, and nothing is to be done again until it beats. */
  wasDue: boolean;
}

export const LOOKS_EVERY_MS = 250;

/** What was let go on is looked at again after so many times as long. */
export const LATE = 10;

/**
 * Pure. What a machine slept, or the whole process was stopped, does not count: then nobody looked.
 * `isHeld`: a debugger may hold the loop. `queuedMs`: how long of it the loop's thread would have
 * run, and others had the processor.
 */
export function planLook(
  before: Watched,
  {
    beats,
    now,
    isHeld,
    queuedMs = 0,
  }: { beats: number; now: number; isHeld: boolean; queuedMs?: number },
  limitMs: number,
): { watched: Watched; isDue: boolean } {
  if (beats !== before.beats || isHeld)
    return { watched: { beats, blockedMs: 0, lookedAt: now, wasDue: false }, isDue: false };
  const passed = Math.max(0, Math.min(now - before.lookedAt - queuedMs, 2 * LOOKS_EVERY_MS));
  const blockedMs = before.blockedMs + passed;
  const isLate = before.wasDue && before.blockedMs < LATE * limitMs && blockedMs >= LATE * limitMs;
  const isDue = isLate || (blockedMs >= limitMs && !before.wasDue);
  return { watched: { beats, blockedMs, lookedAt: now, wasDue: before.wasDue || isDue }, isDue };
}

/** Where JavaScript runs, it takes little work to halt it, and the processor gives it that. */
const HALT_MS = 5000;
const HALT_CPU_MS = 2000;
const HALT_LONGEST_MS = 60_000;
/** A process that got less of the processor than this, by the time, sleeps. */
const ASLEEP = 0.01;

/**
 * Pure. Whether what does not let itself be halted is native code. On a machine that is busy a
 * process gets little of it, and that little counts. `cpuMs`: of the loop's thread, in this time.
 */
export function isNative({ waitedMs, cpuMs }: { waitedMs: number; cpuMs: number }): boolean {
  if (waitedMs < HALT_MS) return false;
  return cpuMs >= HALT_CPU_MS || cpuMs < waitedMs * ASLEEP || waitedMs >= HALT_LONGEST_MS;
}

/** How often a gateway is asked whether it answers, within the time that it has. */
export const ASKS = 6;

export interface Answering {
  /** Beats when it last answered. */
  beats: number;
  /** Since it answered, ms; without what a machine slept. */
  silentMs: number;
}

/**
 * Pure. A gateway whose loop turns and that answers nobody is of no use, either. One that works
 * hard turns seldom: it is slow, and not counted. `answered`: null where a debugger may hold it.
 */
export function planAnswer(
  before: Answering,
  { answered, beats, tookMs }: { answered: boolean | null; beats: number; tookMs: number },
  limitMs: number,
): { answering: Answering; isDeaf: boolean } {
  if (answered !== false) return { answering: { beats, silentMs: 0 }, isDeaf: false };
  const silentMs = before.silentMs + Math.min(tookMs, limitMs);
  const turned = (beats - before.beats) * LOOKS_EVERY_MS;
  const isDeaf = silentMs >= limitMs && turned >= silentMs / 2;
  return { answering: { beats: before.beats, silentMs }, isDeaf };
}
