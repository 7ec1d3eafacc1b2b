// Names the messages that may hold what is searched for, newest first.
import { composed, writingsOf } from "../messages/spelling.ts";
import type { Sql, Store } from "./store.ts";
import { mayHold } from "./trigram-index.ts";
import { type IndexedWord, queryWords } from "./word-text.ts";

/** Where to look, and how far back. */
export interface Range {
  /** Ids of conversations; null = all of them. */
  readonly conversations: readonly number[] | null;
  /** Only messages that came before this one. Absent: all. */
  readonly before?: number | undefined;
  /** At most this many. */
  readonly limit: number;
}

/** Nothing is ever taken out: what an index names and no conversation holds is damaged. */
const IS_KNOWN = "conversation IN (SELECT id FROM conversation)";

/**
 * Messages of the index that hold each word of `text`, whatever its ending; of text without spaces
 * between its words: every two characters that follow each other there.
 */
export function withWords(store: Store, text: string, range: Range): number[] {
  return store.read((sql) => matches(sql, queryWords(text).indexed, range));
}

/**
 * Messages of the index that hold every three characters that follow each other in `text`: those
 * that hold the text, in upper or lower case, are among them, and few others.
 */
export function withTrigrams(
  store: Store,
  text: string,
  { conversations, before = Number.MAX_SAFE_INTEGER, limit }: Range,
): number[] {
  return store.read((sql) => {
    const wanted = conversations && new Set(conversations);
    const isWanted = (seq: number) => {
      if (wanted === null) return true;
      const row = sql(`SELECT conversation FROM message WHERE seq = ? AND ${IS_KNOWN}`).get(seq);
      return row === undefined || wanted.has(Number(row.conversation));
    };
    const found: number[] = [];
    for (const seq of mayHold(sql, composed(text), before)) {
      if (found.length >= limit) break;
      if (isWanted(seq)) found.push(seq);
    }
    return found;
  });
}

/** Messages that no index holds to their end. */
export function unindexed(store: Store, range: Range): number[] {
  return store.read((sql) => numbers(sql, "unindexed", "message", "", [], range));
}

/** Messages that were made from `from` on and before `to`, ms. */
export const saidBetween = (
  store: Store,
  { from, to, ...range }: Range & { from: number; to: number },
): number[] =>
  store.read((sql) =>
    numbers(sql, "message", "seq", "AND message.time >= ? AND message.time < ?", [from, to], range),
  );

function matches(sql: Sql, words: readonly IndexedWord[], range: Range): number[] {
  if (words.length === 0) return [];
  // Quoted, so that nothing of it is taken for an operator.
  const query = words.map((word) => `(${writtenAs(word).join(" OR ")})`).join(" AND ");
  return numbers(sql, "words", "rowid", "AND words MATCH ?", [query], range);
}

const writtenAs = ({ text, isPrefix }: IndexedWord): string[] =>
  writingsOf(text).map((one) => `"${one.replaceAll('"', '""')}"${isPrefix ? "*" : ""}`);

function numbers(
  sql: Sql,
  table: string,
  column: string,
  condition: string,
  values: readonly (string | number)[],
  { conversations, before = Number.MAX_SAFE_INTEGER, limit }: Range,
): number[] {
  const within =
    conversations === null
      ? ""
      : `AND (EXISTS (SELECT 1 FROM message AS held WHERE held.seq = ${table}.${column}
             AND held.conversation IN (SELECT value FROM json_each(?)))
           OR NOT EXISTS (SELECT 1 FROM message WHERE seq = ${table}.${column} AND ${IS_KNOWN}))`;
  return sql(`
    SELECT ${table}.${column} AS seq FROM ${table}
    WHERE ${table}.${column} < ? ${condition} ${within}
    ORDER BY ${table}.${column} DESC LIMIT ?
  `)
    .all(
      ...[before, ...values, ...(conversations === null ? [] : [JSON.stringify(conversations)])],
      limit,
    )
    .map(({ seq }) => Number(seq));
}
