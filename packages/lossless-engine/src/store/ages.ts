// Finds messages that are too old by their own time, whatever the order in which they came.
import { FLAGS } from "./rows.ts";
import type { Sql, Store } from "./store.ts";

/** A message that is still kept whole. */
export interface AgedMessage {
  readonly seq: number;
  /**
   * ms since the epoch. Of one that has none: that of the next of its conversation, which came
   * after it. Null: nobody knows.
   */
  readonly time: number | null;
}

/** Numbers in a block: of a block that holds something old all are read. */
const BLOCK = 512;
/** Blocks that are looked at for the first time in one step. */
const BLOCKS_AT_ONCE = 8;

/** What this process knows of the ages in a database, so that each message is read once. */
interface Ages {
  /** The file that it is true of. */
  readonly file: string;
  /** Number up to which all were read. */
  upTo: number;
  /** By block: time of the oldest that is kept; -Infinity = it has to be read again. */
  readonly oldest: Map<number, number>;
  /** By conversation: blocks with messages of which nobody knows the time. */
  readonly waiting: Map<number, Set<number>>;
  /** By conversation: from this number on the next one that has a time. */
  readonly next: Map<number, Next>;
}

interface Next {
  readonly from: number;
  /** Infinity: there is none. */
  readonly seq: number;
  readonly time: number | null;
}

const known = new WeakMap<Store, Ages>();

/**
 * Some of those that are older than `time`. Not all were looked at where `isAll` is false: whoever
 * asks again goes on.
 */
export function messagesBefore(
  store: Store,
  { time, limit }: { time: number; limit: number },
): { numbers: number[]; isAll: boolean } {
  const ages = agesOf(store);
  return store.read((sql) => {
    const isRead = readNew(sql, ages);
    for (const [block, oldest] of ages.oldest) {
      if (oldest > time) continue;
      const old = readBlock(sql, ages, block).filter((each) => isBefore(each, time));
      if (old.length > 0)
        return { numbers: old.slice(0, limit).map(({ seq }) => seq), isAll: false };
    }
    return { numbers: [], isAll: isRead };
  });
}

/** Those of the next numbers behind `from`. Undefined: there are no more. */
export function messagesBehind(
  store: Store,
  from: number,
): { messages: readonly AgedMessage[]; upTo: number } | undefined {
  const ages = agesOf(store);
  return store.read((sql) => {
    const block = nextBlock(sql, from);
    if (block === undefined) return undefined;
    return { messages: readBlock(sql, ages, block), upTo: endOf(block) };
  });
}

export const isBefore = (message: AgedMessage, time: number) =>
  message.time !== null && message.time <= time;

function agesOf(store: Store): Ages {
  const file = store.fileInUse();
  const found = known.get(store);
  if (found?.file === file) return found;
  const ages = { file, upTo: 0, oldest: new Map(), waiting: new Map(), next: new Map() };
  known.set(store, ages);
  return ages;
}

/** Of what came since; true: all of it was read. */
function readNew(sql: Sql, ages: Ages): boolean {
  for (let count = 0; count < BLOCKS_AT_ONCE; count++) {
    const block = nextBlock(sql, ages.upTo);
    if (block === undefined) return true;
    for (const conversation of conversationsWithTimes(sql, ages.upTo, endOf(block))) {
      // Those before it are as old as this one at least.
      for (const waiting of ages.waiting.get(conversation) ?? [])
        ages.oldest.set(waiting, -Infinity);
      ages.waiting.delete(conversation);
      ages.next.delete(conversation);
    }
    readBlock(sql, ages, block);
    ages.upTo = Math.min(endOf(block), lastOf(sql));
  }
  return false;
}

const blockOf = (seq: number) => Math.floor(seq / BLOCK);
const endOf = (block: number) => (block + 1) * BLOCK - 1;

function nextBlock(sql: Sql, upTo: number): number | undefined {
  const row = sql("SELECT seq FROM message WHERE seq > ? ORDER BY seq LIMIT 1").get(upTo);
  return row === undefined ? undefined : blockOf(Number(row.seq));
}

const lastOf = (sql: Sql) => Number(sql("SELECT max(seq) AS seq FROM message").get()?.seq ?? 0);

const conversationsWithTimes = (sql: Sql, from: number, to: number): number[] =>
  sql(`
    SELECT DISTINCT conversation FROM message WHERE seq > ? AND seq <= ? AND time IS NOT NULL
  `)
    .all(from, to)
    .map(({ conversation }) => Number(conversation));

/** Its messages that are kept, in the order in which they came. */
function readBlock(sql: Sql, ages: Ages, block: number): AgedMessage[] {
  const rows = sql(`
    SELECT seq, conversation, time, flags & ${FLAGS.forgotten} AS gone FROM message
    WHERE seq BETWEEN ? AND ? ORDER BY seq
  `).all(block * BLOCK, endOf(block));
  const kept: AgedMessage[] = [];
  for (const row of rows) {
    if (Number(row.gone) !== 0) continue;
    const [seq, conversation] = [Number(row.seq), Number(row.conversation)];
    const time = row.time === null ? timeAfter(sql, ages, { conversation, seq }) : Number(row.time);
    kept.push({ seq, time });
    if (time !== null) continue;
    const waiting = ages.waiting.get(conversation) ?? new Set();
    ages.waiting.set(conversation, waiting.add(block));
  }
  const times = kept.flatMap(({ time }) => (time === null ? [] : [time]));
  if (times.length === 0) ages.oldest.delete(block);
  else ages.oldest.set(block, Math.min(...times));
  return kept;
}

/** Of the next message of the conversation that has one. */
function timeAfter(
  sql: Sql,
  ages: Ages,
  { conversation, seq }: { conversation: number; seq: number },
): number | null {
  const found = ages.next.get(conversation);
  if (found !== undefined && seq >= found.from && seq < found.seq) return found.time;
  const row = sql(`
    SELECT seq, time FROM message
    WHERE conversation = ? AND seq > ? AND time IS NOT NULL ORDER BY seq LIMIT 1
  `).get(conversation, seq);
  const time = row === undefined ? null : Number(row.time);
  ages.next.set(conversation, { from: seq, seq: Number(row?.seq ?? Infinity), time });
  return time;
}
