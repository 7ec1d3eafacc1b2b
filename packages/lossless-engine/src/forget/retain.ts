// Decides which messages are too old to be kept, and lets them go a slice at a time.
import { patiently } from "../patiently.ts";
import { isBefore, messagesBefore, messagesBehind } from "../store/ages.ts";
import { expire } from "../store/forget.ts";
import { oldestLong, useOf } from "../store/oldest.ts";
import { isStale, mergeWords } from "../store/scrub.ts";
import type { Store } from "../store/store.ts";
import { othersTurn } from "../turns.ts";

/** How long messages are kept. */
export interface Retention {
  /**
   * Days after which a message goes, by its own time. One that has none is as old as the next of
   * its conversation that has one. Absent: never for its age.
   */
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
export const NEWEST = 1_000;
/** Merging reads all of the index, and is not worth it for every few messages. */
const MERGE_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MEGABYTE = 1e6;

/** What goes next, and whether more has to be looked at where that is nothing. */
type Step = { numbers: readonly number[]; isAll: boolean };

/** Until nothing is too old, or `boundMs` are over; how many messages went. */
export async function retain(
  store: Store,
  { keepDays = Infinity, keepMegabytes = Infinity, keepNewest = NEWEST }: Retention,
  { now, boundMs, signal }: { now: number; boundMs: number; signal?: AbortSignal | undefined },
): Promise<number> {
  if (keepDays === Infinity && keepMegabytes === Infinity) return 0;
  const next = (): Step => {
    const isOver = megabytesUsed(store) > keepMegabytes;
    const bySize = isOver ? oldestLong(store, { limit: SLICE, newest: keepNewest }) : [];
    if (bySize.length > 0) return { numbers: bySize, isAll: false };
    if (keepDays === Infinity) return { numbers: [], isAll: true };
    return messagesBefore(store, { time: lastOld(keepDays, now), limit: SLICE });
  };
  const end = performance.now() + boundMs;
  let gone = 0;
  while (performance.now() < end) {
    const { numbers, isAll } = await patiently(next, signal);
    if (isAll) break;
    if (numbers.length > 0) gone += await patiently(() => expire(store, numbers), signal);
    await othersTurn();
    signal?.throwIfAborted();
  }
  if (gone === 0 && isMergeDue(store) && (await mergeWords(store, { end, signal })))
    merged.set(store, performance.now());
  return gone;
}

/** Of the youngest message that goes, ms since the epoch. */
const lastOld = (keepDays: number, now: number) => now - keepDays * DAY_MS;

/** But for what messages left there that went. */
function megabytesUsed(store: Store): number {
  const { bytes, looseBytes } = useOf(store);
  return (bytes - looseBytes) / MEGABYTE;
}

/** What letting go of what is too old or too much would come to, or left to do. */
export interface RetentionState {
  /** Messages that are too old. Null: nothing was said of their age. */
  readonly old: number | null;
  /** Messages that stay as nobody knows when they were said. Null: as above. */
  readonly timeless: number | null;
  /** Megabytes in use. */
  readonly megabytes: number;
  /** Whether that is more than is to be kept. */
  readonly isOver: boolean;
  /** Whether messages are there that go for the size. */
  readonly hasLong: boolean;
}

/** Reads all, and changes nothing. */
export async function retentionState(
  store: Store,
  { keepDays, keepMegabytes = Infinity, keepNewest = NEWEST }: Retention,
  { now, signal }: { now: number; signal?: AbortSignal | undefined },
): Promise<RetentionState> {
  const megabytes = await patiently(() => megabytesUsed(store), signal);
  const isOver = megabytes > keepMegabytes;
  const long = isOver
    ? await patiently(() => oldestLong(store, { limit: 1, newest: keepNewest }), signal)
    : [];
  const size = { megabytes, isOver, hasLong: long.length > 0 };
  if (keepDays === undefined) return { old: null, timeless: null, ...size };
  let [old, timeless] = [0, 0];
  for (let from = 0; ; ) {
    const start = from;
    const piece = await patiently(() => messagesBehind(store, start), signal);
    if (piece === undefined) return { old, timeless, ...size };
    const { messages, upTo } = piece;
    old += messages.filter((each) => isBefore(each, lastOld(keepDays, now))).length;
    timeless += messages.filter(({ time }) => time === null).length;
    from = upTo;
    await othersTurn();
    signal?.throwIfAborted();
  }
}

/** When the index was last rid of words of messages that went, by database. */
const merged = new WeakMap<Store, number>();

const isMergeDue = (store: Store): boolean =>
  performance.now() - (merged.get(store) ?? -Infinity) > MERGE_EVERY_MS && isStale(store);
