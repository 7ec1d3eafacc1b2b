// Names the columns of lossless-claw as the version of a database has them.
import type { Sql } from "../sql.ts";
import { MOST_BYTES } from "./source.ts";

/** Ids, names and paths are shorter. */
const NAME_BYTES = 4_096;

/** Without those that are computed; none where there is no such table. */
export const columnsOf = (sql: Sql, table: string): ReadonlySet<string> =>
  new Set(
    sql("SELECT name FROM pragma_table_info(?)")
      .all(table)
      .map(({ name }) => String(name).toLowerCase()),
  );

/** The name that this version has for it; NULL where it has none. */
export function column(sql: Sql, table: string, names: readonly string[]): string {
  const known = columnsOf(sql, table);
  return names.find((name) => known.has(name)) ?? "NULL";
}

/** The column, where it is not longer than names are, and no number that JavaScript has not. */
export const short = (sql: Sql, table: string, ...names: string[]): string => {
  const name = column(sql, table, names);
  return `CASE WHEN octet_length(${name}) <= ${NAME_BYTES} AND ${isExact(name)} THEN ${name} END`;
};

const isExact = (name: string) =>
  `(typeof(${name}) <> 'integer' OR ${name} BETWEEN -${Number.MAX_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER})`;

/** The number of a row; NULL where JavaScript has none like it. */
export const ROW = `CASE WHEN ${isExact("rowid")} THEN rowid END AS row`;

/** What names the conversation. */
export const CONVERSATION = ["conversation_id", "conversation", "conv"];

/** How many the texts take; of none of them is read. */
export const bytesOf = (sql: Sql, table: string, names: readonly string[]): string =>
  names.map((name) => `coalesce(octet_length(${column(sql, table, [name])}), 0)`).join(" + ");

export const bounded = (name: string) =>
  `CASE WHEN octet_length(${name}) <= ${MOST_BYTES} THEN ${name} END`;

export const textOf = (value: unknown): string => String(value);

export const textOr = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;
