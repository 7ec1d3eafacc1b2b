// Keeps the two search indexes, which follow the messages a little later.
import { isData } from "@clew/plugin-sdk/transcript";
import { searchTextOf } from "../messages/search-text.ts";
import { messageOf } from "./rows.ts";
import type { Sql, Store } from "./store.ts";
import { wordText } from "./word-text.ts";

/** Characters of one message that are indexed; what stands behind them is found by reading it. */
export const INDEXED_CHARS = 100_000;
const ROWS_AT_ONCE = 16;

/** How many messages the indexes lack. */
export const backlogOf = (store: Store): number =>
  store.read(
    (sql) =>
      Number(sql("SELECT coalesce(max(seq), 0) AS newest FROM message").get()?.newest) -
      watermarkOf(sql),
  );

/**
 * Indexes messages in the order in which they came until `isOver` says so, at least a few. True
 * when none is left.
 */
export function indexMore(store: Store, isOver: () => boolean): boolean {
  return store.change((sql) => {
    let indexed = watermarkOf(sql);
    for (;;) {
      const rows = sql("SELECT * FROM message WHERE seq > ? ORDER BY seq LIMIT ?").all(
        ...[indexed, ROWS_AT_ONCE],
      );
      for (const row of rows) {
        const { seq, message } = messageOf(sql, row);
        addToIndexes(sql, seq, searchTextOf(message));
        indexed = seq;
      }
      const isDone = rows.length < ROWS_AT_ONCE;
      if (!isDone && !isOver()) continue;
      sql("UPDATE watermark SET indexed = ?").run(indexed);
      return isDone;
    }
  });
}

/** After the message of this number was replaced by `text`. */
export function indexAgain(sql: Sql, seq: number, text: string): void {
  if (seq > watermarkOf(sql)) return;
  for (const table of ["words", "trigrams"]) sql(`DELETE FROM ${table} WHERE rowid = ?`).run(seq);
  sql("DELETE FROM unindexed WHERE message = ?").run(seq);
  addToIndexes(sql, seq, text);
}

function addToIndexes(sql: Sql, seq: number, text: string): void {
  const isBulk = isData(text);
  if (isBulk || text.length > INDEXED_CHARS)
    sql("INSERT INTO unindexed (message) VALUES (?)").run(seq);
  if (isBulk || text === "") return;
  const head = indexable(text.slice(0, INDEXED_CHARS));
  sql("INSERT INTO words (rowid, text) VALUES (?, ?)").run(seq, wordText(head));
  sql("INSERT INTO trigrams (rowid, text) VALUES (?, ?)").run(seq, head);
}

/** `text` as both indexes take it, to its end: SQLite ends a text where a null character stands. */
export const indexable = (text: string): string => text.replaceAll("\0", " ");

const watermarkOf = (sql: Sql) => Number(sql("SELECT indexed FROM watermark").get()?.indexed);
