// Decides which messages are too old to be kept, and lets them go a slice at a time.
import { patiently } from "../patiently.ts";
import { expire } from "../store/forget.ts";
import { type OldMessage, oldestKept, oldestLong, useOf } from "../store/oldest.ts";
import { isStale, mergeWords } from "../store/scrub.ts";
import type { Store } from "../store/store.ts";
import { othersTurn } from "../turns.ts";

/** How long messages are kept. */
export interface Retention {
  /** Days after which a message goes. Absent: never for its age. */
  readonly keepDays?: number | undefined;
  /**
   * Megabytes in use above which the oldest go, but for short ones, which give no room back.
   * Absent: never for the size.
   */
  readonly keepMegabytes?: number | undefined;
  /** So many of the newest messages stay, whatever the size. Absent: 1,000. */
  readonly keepNewest?: number | undefined;
}

/** Messages that go in one transaction: a few milliseconds' work. */
const SLICE = 16;
const NEWEST = 1_000;
/** Merging reads all of the index, and is not worth it for every few messages. */
const MERGE_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MEGABYTE = 1e6;

/** Pure. Those that go for their age: from the oldest on, up to the first that is young. */
export function planExpiry(
  oldest: readonly OldMessage[],
  { keepDays, now }: { keepDays: number; now: number },
): number[] {
  const isYoung = ({ time }: OldMessage) => time === null || time > now - keepDays * DAY_MS;
  const end = oldest.findIndex(isYoung);
  return oldest.slice(0, end < 0 ? oldest.length : end).map(({ seq }) => seq);
}

/** Until nothing is too old, or `boundMs` are over; how many messages went. */
export async function retain(
  store: Store,
  { keepDays = Infinity, keepMegabytes = Infinity, keepNewest = NEWEST }: Retention,
  { now, boundMs, signal }: { now: number; boundMs: number; signal?: AbortSignal | undefined },
): Promise<number> {
  if (keepDays === Infinity && keepMegabytes === Infinity) return 0;
  const next = () => {
    const { bytes, looseBytes } = useOf(store);
    const isOver = bytes - looseBytes > keepMegabytes * MEGABYTE;
    const bySize = isOver ? oldestLong(store, { limit: SLICE, newest: keepNewest }) : [];
    if (bySize.length > 0) return bySize.map(({ seq }) => seq);
    return planExpiry(oldestKept(store, { limit: SLICE, newest: 0 }), { keepDays, now });
  };
  const end = performance.now() + boundMs;
  let gone = 0;
  while (performance.now() < end) {
    const numbers = await patiently(next, signal);
    if (numbers.length === 0) break;
    gone += await patiently(() => expire(store, numbers), signal);
    await othersTurn();
    signal?.throwIfAborted();
  }
  if (gone === 0 && isMergeDue(store) && (await mergeWords(store, { end, signal })))
    merged.set(store, performance.now());
  return gone;
}

/** When the index was last rid of words of messages that went, by database. */
const merged = new WeakMap<Store, number>();

const isMergeDue = (store: Store): boolean =>
  performance.now() - (merged.get(store) ?? -Infinity) > MERGE_EVERY_MS && isStale(store);
