// How long a program that ended is left alone before it is started again.

/** What is known of its earlier starts. */
export interface StartRecord {
  /** Ends since it last stayed. */
  failures: number;
  /** When it last ended, ms. */
  endedAt: number;
}

export const NEVER_STARTED: StartRecord = { failures: 0, endedAt: 0 };

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** Whoever ran this long did not fail because it was started. */
const STAYED_MS = 60_000;

/** Pure. After it ended, having run from `startedAt` on. */
export const afterEnd = (
  { failures }: StartRecord,
  { startedAt, now }: { startedAt: number; now: number },
): StartRecord => ({
  failures: now - startedAt >= STAYED_MS ? 1 : failures + 1,
  endedAt: now,
});

/** Pure, ms. The first end is answered at once: it may have been anything. */
export function waitBefore({ failures, endedAt }: StartRecord, now: number): number {
  if (failures < 2) return 0;
  const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - 2), LONGEST_WAIT_MS);
  return Math.max(0, endedAt + wait - now);
}
