// Finds the row in which a message is stored already, under whichever name.
import { textOf } from "@clew/plugin-sdk/transcript";
import {
  isNameless,
  keyName,
  type NamedMessage,
  nthName,
  printOf,
  saidOnce,
} from "../messages/name.ts";
import { endsKept } from "../messages/shorten.ts";
import { changing } from "./chain.ts";
import { FLAGS, messageOf, timeOf } from "./rows.ts";
import { sealing } from "./seals.ts";
import type { Sql } from "./store.ts";

/** A row of a message. */
export interface KnownRow {
  readonly seq: number;
  readonly flags: number;
}

/** Where to look, and what was found there in this call. */
export interface Lookup {
  readonly sql: Sql;
  readonly conversation: number;
  readonly from: "told" | "seen";
  /** Rows that earlier messages of the call are: of two that say the same each has its own. */
  readonly taken: Set<number>;
  /** True: they go on a turn that nobody told of before. */
  isNewTurn?: boolean;
  /** Whether any message of the conversation has no id. Undefined: nobody looked. */
  hasNameless?: boolean;
}

/** The row of a message, or the name that it is to be stored under. */
export type Found = { readonly row: KnownRow } | { readonly row: undefined; readonly name: string };

/** Messages looked back for one that was stored under an id which this call does not give. */
const WINDOW = 512;

/**
 * By its id. Where its host gave none, now or when it was stored, by what copies of it have in
 * common; then the row gets the id.
 */
export function findRow(lookup: Lookup, told: NamedMessage): Found {
  const found = isNameless(told.name) ? findNameless(lookup, told) : findNamed(lookup, told);
  if (found.row !== undefined) lookup.taken.add(found.row.seq);
  return found;
}

function findNamed(lookup: Lookup, { name, message }: NamedMessage): Found {
  const row = rowOf(lookup, name);
  if (row !== undefined) return { row };
  lookup.hasNameless ??= hasNameless(lookup.sql, lookup.conversation);
  if (!lookup.hasNameless) return { row: undefined, name };
  for (const print of [keyName(message) ?? printOf(message), printOf(message)])
    for (let time = 1; ; time++) {
      const nameless = rowOf(lookup, nthName(print, time));
      if (nameless === undefined) break;
      if (lookup.taken.has(nameless.seq)) continue;
      changing(lookup.sql, nameless.seq, () => rename(lookup, nthName(print, time), name));
      return { row: nameless };
    }
  return { row: undefined, name };
}

function findNameless(lookup: Lookup, told: NamedMessage): Found {
  const name = saidOnce(told.name);
  let time = 1;
  for (; ; time++) {
    const row = rowOf(lookup, nthName(name, time));
    if (row === undefined) break;
    if (told.isNew !== true && !lookup.taken.has(row.seq) && isSame(lookup, row, told))
      return { row };
  }
  const row = told.isNew || lookup.isNewTurn ? undefined : recentRow(lookup, told);
  return row === undefined ? { row, name: nthName(name, time) } : { row };
}

/** What was only seen may be cut; of what was told the whole counts, so that nothing is lost. */
function isSame(lookup: Lookup, row: KnownRow, { message }: NamedMessage): boolean {
  const { sql, from, isNewTurn = false } = lookup;
  if (from === "seen" || (row.flags & FLAGS.seen) !== 0) return true;
  if (isNewTurn) return false;
  const { message: stored } = messageOf(
    sql,
    sql("SELECT * FROM message WHERE seq = ?").get(row.seq)!,
  );
  return textOf(stored) === textOf(message);
}

/**
 * Stored under an id: in another call its host gave it one. Or this engine showed it shortened, and
 * its host hands that back.
 */
function recentRow(lookup: Lookup, { message }: NamedMessage): KnownRow | undefined {
  const { sql, conversation, taken, from } = lookup;
  const time = timeOf(message);
  if (time === null) return undefined;
  const rows = sql(`
    SELECT * FROM (SELECT * FROM message WHERE conversation = ? ORDER BY seq DESC LIMIT ?)
    WHERE role = ? AND time IS ? ORDER BY seq
  `).all(conversation, WINDOW, message.role, time);
  const print = printOf(message);
  const ends = from === "seen" ? endsKept(textOf(message)) : undefined;
  const isSame = (row: (typeof rows)[number]) => {
    const { message: stored } = messageOf(sql, row);
    if (!isNameless(String(row.id)) && printOf(stored) === print) return true;
    const text = ends === undefined ? "" : textOf(stored);
    return ends !== undefined && text.startsWith(ends.head) && text.endsWith(ends.tail);
  };
  const same = rows.find((row) => !taken.has(Number(row.seq)) && isSame(row));
  return same && { seq: Number(same.seq), flags: Number(same.flags) };
}

function rowOf({ sql, conversation }: Lookup, name: string): KnownRow | undefined {
  const row = sql("SELECT seq, flags FROM message WHERE conversation = ? AND id = ?").get(
    ...[conversation, name],
  );
  return row && { seq: Number(row.seq), flags: Number(row.flags) };
}

/** Two looks into the index: with OR, SQLite reads every name of the conversation. */
export const NAMELESS = `
  SELECT 1 FROM message WHERE conversation = ?1 AND id >= 'json:' AND id < 'json;'
  UNION ALL
  SELECT 1 FROM message WHERE conversation = ?1 AND id >= 'key:' AND id < 'key;'
  LIMIT 1
`;

export const hasNameless = (sql: Sql, conversation: number): boolean =>
  sql(NAMELESS).get(conversation) !== undefined;

function rename({ sql, conversation }: Lookup, from: string, to: string): void {
  sql("UPDATE message SET id = ? WHERE conversation = ? AND id = ?").run(to, conversation, from);
  const where = "conversation = ? AND (first = ? OR request = ?)";
  sealing(sql, { table: "cut", where, values: [conversation, from, from] }, () => {
    sql("UPDATE cut SET first = ? WHERE conversation = ? AND first = ?").run(
      ...[to, conversation, from],
    );
    sql("UPDATE cut SET request = ? WHERE conversation = ? AND request = ?").run(
      ...[to, conversation, from],
    );
  });
}
