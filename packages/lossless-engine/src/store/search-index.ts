// Keeps the two search indexes, which follow the messages a little later.
import { isData } from "@clew/plugin-sdk/transcript";
import { searchTextOf } from "../messages/search-text.ts";
import { composed } from "../messages/spelling.ts";
import { markRow } from "./mark-damaged.ts";
import { LEAF_SPAN } from "./postings.ts";
import { messageOf } from "./rows.ts";
import { circling } from "./seek.ts";
import type { Sql, Store } from "./store.ts";
import { addLeaf, forgetTrigramsFrom, groupLeaves } from "./trigram-index.ts";
import { wordText } from "./word-text.ts";

/** Characters of one message that are indexed; what stands behind them is found by reading it. */
export const INDEXED_CHARS = 100_000;

/** How many messages the indexes lack; numbers have gaps. They are counted up to `most`. */
export const backlogOf = (store: Store, most = EVERY): number =>
  store.read((sql) => {
    const behind = "SELECT 1 FROM message WHERE seq > ? LIMIT ?";
    return Number(
      sql(`SELECT count(*) AS count FROM (${behind})`).get(watermarkOf(sql), most)?.count,
    );
  });

/** As SQLite has it. */
const EVERY = -1;

/** Messages that this process stored since the indexes were last looked at; by database. */
const stored = new WeakMap<Store, number>();

export function noteStored(store: Store, messages: number): void {
  const known = stored.get(store);
  if (known !== undefined) stored.set(store, known + messages);
}

/** True: the indexes lack `many` messages or more. Asks the database only when that may be. */
export function isBehind(store: Store, many: number): boolean {
  const known = stored.get(store);
  if (known !== undefined && known < many) return false;
  const backlog = backlogOf(store, many);
  stored.set(store, backlog);
  return backlog >= many;
}

/** Every piece is a segment of the words: so many cost a search less than merging them often. */
const MOST_PIECES = 16;
/** Pages that are merged at once: some milliseconds' work. */
const MERGED_PAGES = 64;

/**
 * Indexes messages in the order in which they came until `isOver` says so, at least a few. True
 * when none is left.
 */
export function indexMore(store: Store, isOver: () => boolean): boolean {
  return store.change((sql) => {
    if (groupLeaves(sql) && isOver()) return false;
    mergeWords(sql);
    for (;;) {
      const isDone = indexLeaf(sql, isOver);
      if (isDone || isOver()) return isDone;
    }
  });
}

/** Once there are many segments, a slice of them in each piece until all are one. */
function mergeWords(sql: Sql): void {
  if (Number(sql("SELECT pieces FROM watermark").get()?.pieces) < MOST_PIECES) {
    sql("UPDATE watermark SET pieces = pieces + 1").run();
    return;
  }
  const changes = () => Number(sql("SELECT total_changes() AS changes").get()?.changes);
  const before = changes();
  sql("INSERT INTO words (words, rank) VALUES ('merge', ?)").run(MERGED_PAGES);
  // As SQLite says that nothing was left to merge.
  if (changes() - before < 2) sql("UPDATE watermark SET pieces = 0").run();
}

/** A leaf of few messages takes as long to search as one of many. */
const FEW_ROWS = 8;
const MANY_CHARS = 32_000;

/** True when no message is left. */
function indexLeaf(sql: Sql, isOver: () => boolean): boolean {
  const indexed = watermarkOf(sql);
  const rows = sql("SELECT * FROM message WHERE seq > ? ORDER BY seq LIMIT ?").all(
    ...[indexed, LEAF_SPAN],
  );
  const first = Number(rows[0]?.seq);
  if (first <= indexed) throw circling();
  const texts: (string | undefined)[] = [];
  let [read, chars] = [0, 0];
  for (const row of rows) {
    const { seq, message, isDamaged, isForgotten } = messageOf(sql, row);
    if (seq - first >= LEAF_SPAN) break;
    if (isDamaged) markRow(sql, seq);
    const text = isDamaged || isForgotten ? undefined : addWords(sql, seq, searchTextOf(message));
    texts[seq - first] = text;
    chars += text?.length ?? 0;
    read++;
    if ((read >= FEW_ROWS || chars >= MANY_CHARS) && isOver()) break;
  }
  if (read === 0) return true;
  addLeaf(sql, first, texts);
  sql("UPDATE watermark SET indexed = ?").run(first + texts.length - 1);
  return read === rows.length && rows.length < LEAF_SPAN;
}

/** After the message of this number was replaced by `text`. */
export function indexAgain(sql: Sql, seq: number, text: string): void {
  if (seq > watermarkOf(sql)) return;
  removeWords(sql, seq);
  addWords(sql, seq, text);
  // Its leaf is not written again: from now on it is read to be searched.
  sql("INSERT OR IGNORE INTO unindexed (message) VALUES (?)").run(seq);
}

/** Messages from this number on are indexed anew, as one came in among those that are. */
export function indexAfresh(sql: Sql, seq: number): void {
  if (seq > watermarkOf(sql)) return;
  const from = forgetTrigramsFrom(sql, seq);
  sql("DELETE FROM words WHERE rowid >= ?").all(from);
  nameLastRow(sql);
  sql("DELETE FROM unindexed WHERE message >= ?").run(from);
  sql("UPDATE watermark SET indexed = ?").run(from - 1);
}

/** Its message holds none of the words any more. */
export function forgetWords(sql: Sql, seq: number): void {
  if (seq <= watermarkOf(sql)) removeWords(sql, seq);
  sql("DELETE FROM unindexed WHERE message = ?").run(seq);
}

/** Pages that are merged at once where all are to be. */
const MERGED_AT_ONCE = 512;

/** Merges a slice of the words, so that removed ones are left out. True: none is left. */
export function mergeAll(sql: Sql, isFirst: boolean): boolean {
  const changes = () => Number(sql("SELECT total_changes() AS changes").get()?.changes);
  const before = changes();
  // A negative number begins with all segments, to make one of them.
  sql("INSERT INTO words (words, rank) VALUES ('merge', ?)").all(
    isFirst ? -MERGED_AT_ONCE : MERGED_AT_ONCE,
  );
  const isDone = changes() - before < 2;
  nameLastRow(sql);
  if (isDone) sql("UPDATE watermark SET pieces = 0").run();
  return isDone;
}

function removeWords(sql: Sql, seq: number): void {
  sql("DELETE FROM words WHERE rowid = ?").all(seq);
  nameLastRow(sql);
}

/** Rows of the index have numbers too large to tell, and the last one is told of each change. */
const nameLastRow = (sql: Sql) =>
  sql("INSERT OR REPLACE INTO watermark SELECT * FROM watermark").run();

/** The text of a message as far as the indexes hold it; undefined: they do not. */
function addWords(sql: Sql, seq: number, text: string): string | undefined {
  const { words, trigrams, isWhole } = indexedOf(text);
  if (!isWhole) sql("INSERT OR IGNORE INTO unindexed (message) VALUES (?)").run(seq);
  if (words !== undefined) sql("INSERT INTO words (rowid, text) VALUES (?, ?)").run(seq, words);
  return trigrams;
}

/** What the indexes hold of a text. */
export interface IndexedText {
  /** Undefined: nothing. */
  readonly words: string | undefined;
  /** The same. */
  readonly trigrams: string | undefined;
  /** False: it is read to be searched. */
  readonly isWhole: boolean;
}

/** Pure. A release that changes it makes the indexes again: the audit holds them against it. */
export function indexedOf(text: string): IndexedText {
  const head = text.slice(0, INDEXED_CHARS);
  const isBulk = isData(head);
  const isWhole = !isBulk && text.length <= INDEXED_CHARS;
  return isBulk || text === ""
    ? { words: undefined, trigrams: undefined, isWhole }
    : { words: wordText(indexable(head)), trigrams: composed(head), isWhole };
}

/** Empties both indexes, so that they are made again like those of new messages. */
export const forgetIndexes = (store: Store): void => {
  store.change((sql) => {
    sql("INSERT INTO words (words) VALUES ('delete-all')").run();
    for (const table of ["trigram_leaf", "trigram_group", "trigram_bucket", "unindexed"])
      sql(`DELETE FROM ${table}`).run();
    sql("UPDATE watermark SET indexed = 0, pieces = 0").run();
  });
  stored.delete(store);
};

/** `text` to its end: SQLite ends one where a null character stands. */
const indexable = (text: string): string => text.replaceAll("\0", " ");

const watermarkOf = (sql: Sql) => Number(sql("SELECT indexed FROM watermark").get()?.indexed);
