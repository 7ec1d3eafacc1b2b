// Decides when to look who uses up the event loop, and what the looks say.

export interface Sample {
  /** Whose code ran. Null: nobody's that could be named. */
  plugin: string | null;
  /** Where it was, as "work (index.js:3)". */
  where: string | null;
}

export interface Sampling {
  /** Since when the loop has had no rest. Null: it has. */
  sinceMs: number | null;
  /** When it was last looked, ms. */
  lookedAt: number;
  /** What ran, by look. */
  seen: readonly Sample[];
  /** Nothing is looked at before, as it was told of. */
  restsUntil: number;
}

export const NO_SAMPLES: Sampling = {
  ...{ sinceMs: null, lookedAt: 0, seen: [], restsUntil: 0 },
};

/** A loop that works for so many hundredths of the time has no rest. */
const FULL = 85;
/** Others only notice what lasts. */
const LASTING_MS = 5000;
/** Each look halts the loop for some milliseconds. */
const EVERY_MS = 1000;
const LOOKS = 8;
/** What is told of, and what nobody was found for, is looked at again so much later. */
const REST_MS = 300_000;
/** A plugin that runs in so many hundredths of the looks is told of. */
const BUSY = 60;

/** Pure. */
export function planSample(
  before: Sampling,
  { load, now }: { load: number; now: number },
): { sampling: Sampling; isDue: boolean } {
  if (load < FULL) return { sampling: { ...before, sinceMs: null, seen: [] }, isDue: false };
  const sinceMs = before.sinceMs ?? now;
  const isDue =
    now - sinceMs >= LASTING_MS && now - before.lookedAt >= EVERY_MS && now >= before.restsUntil;
  return { sampling: { ...before, sinceMs, lookedAt: isDue ? now : before.lookedAt }, isDue };
}

/**
 * Pure. `busy`: who is to be told of, in how many of a hundred looks it ran, and where it was when
 * a look last found it somewhere.
 */
export function addSample(
  before: Sampling,
  sample: Sample,
): {
  sampling: Sampling;
  busy?: { plugin: string; share: number; where: string | null };
} {
  const seen = [...before.seen, sample];
  if (seen.length < LOOKS) return { sampling: { ...before, seen } };
  const sampling = { ...before, seen: [], restsUntil: before.lookedAt + REST_MS };
  for (const plugin of new Set(seen.map((each) => each.plugin))) {
    const found = seen.filter((each) => each.plugin === plugin);
    const share = Math.round((found.length / seen.length) * 100);
    if (plugin === null || share < BUSY) continue;
    const where = found.findLast((each) => each.where !== null)?.where ?? null;
    return { sampling, busy: { plugin, share, where } };
  }
  return { sampling };
}
