// Names the messages that may hold what is searched for, newest first.
import { indexable } from "./search-index.ts";
import type { Sql, Store } from "./store.ts";
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

/**
 * Messages of the index that hold each word of `text`, whatever its ending; of text without spaces
 * between its words: every two characters that follow each other there.
 */
export function withWords(store: Store, text: string, range: Range): number[] {
  return store.read((sql) => matches(sql, "words", queryWords(text).indexed, range));
}

/**
 * Messages of the index that hold every three characters that follow each other in `text`: those
 * that hold the text, in upper or lower case, are among them.
 */
export function withTrigrams(store: Store, text: string, range: Range): number[] {
  return store.read((sql) => matches(sql, "trigrams", trigramsOf(text), range));
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

/** Every three code points in a row, each once. */
function trigramsOf(text: string): IndexedWord[] {
  const points = [...indexable(text)];
  const trigrams = new Set(points.slice(2).map((_, at) => points.slice(at, at + 3).join("")));
  return [...trigrams].map((trigram) => ({ text: trigram, isPrefix: false }));
}

function matches(
  sql: Sql,
  table: "words" | "trigrams",
  terms: readonly IndexedWord[],
  range: Range,
): number[] {
  if (terms.length === 0) return [];
  // Quoted, so that nothing of it is taken for an operator.
  const query = terms
    .map(({ text, isPrefix }) => `"${text.replaceAll('"', '""')}"${isPrefix ? "*" : ""}`)
    .join(" AND ");
  return numbers(sql, table, "rowid", `AND ${table} MATCH ?`, [query], range);
}

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
      : `AND EXISTS (SELECT 1 FROM message AS held WHERE held.seq = ${table}.${column}
           AND held.conversation IN (SELECT value FROM json_each(?)))`;
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
