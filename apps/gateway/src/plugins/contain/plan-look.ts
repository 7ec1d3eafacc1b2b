// Decides from the beats of an event loop whether it has been blocked for too long.

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

/**
 * Pure. What a machine slept, or the whole process was stopped, does not count: then nobody looked.
 * `isHeld`: a debugger may hold the loop.
 */
export function planLook(
  before: Watched,
  { beats, now, isHeld }: { beats: number; now: number; isHeld: boolean },
  limitMs: number,
): { watched: Watched; isDue: boolean } {
  if (beats !== before.beats || isHeld)
    return { watched: { beats, blockedMs: 0, lookedAt: now, wasDue: false }, isDue: false };
  const passed = Math.min(now - before.lookedAt, 2 * LOOKS_EVERY_MS);
  const blockedMs = before.blockedMs + passed;
  const isDue = blockedMs >= limitMs && !before.wasDue;
  return { watched: { beats, blockedMs, lookedAt: now, wasDue: before.wasDue || isDue }, isDue };
}
