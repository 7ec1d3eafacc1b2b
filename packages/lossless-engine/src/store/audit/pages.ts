// Checks that no page of a file is used twice, or is in use and listed as free.
import type { Sql } from "../sql.ts";

/**
 * What is wrong, a line for each; empty = nothing. It reads the first bytes of every page in one
 * step, some two seconds for a gigabyte.
 */
export const wrongPages = (sql: Sql): readonly string[] => linesOf(sql("PRAGMA quick_check").all());

/** What SQLite says of one table and its indexes, the same way. */
export const wrongTable = (sql: Sql, table: string): readonly string[] =>
  linesOf(sql(`PRAGMA integrity_check("${table.replaceAll('"', '""')}")`).all());

/**
 * Of an index of some rows of a table SQLite says only that these are listed, not that no others
 * are. `definition` is that of the index, which has to be there.
 */
export function listsOthers(sql: Sql, { table, index, definition }: IndexOfSome): boolean {
  const which = /\sWHERE\s(.+)$/s.exec(definition)?.[1];
  if (which === undefined) return false;
  const count = (how: string) => `(SELECT count(*) FROM ${quoted(table)} ${how} WHERE ${which})`;
  const row = sql(`
    SELECT ${count(`INDEXED BY ${quoted(index)}`)} AS listed, ${count("NOT INDEXED")} AS there
  `).get();
  return row?.listed !== row?.there;
}

interface IndexOfSome {
  readonly table: string;
  readonly index: string;
  /** The words that made it. */
  readonly definition: string;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** But for the line that names the database, and the one that says that nothing is wrong. */
const linesOf = (rows: readonly Record<string, unknown>[]): readonly string[] =>
  rows
    .flatMap((row) => String(Object.values(row)[0]).split("\n"))
    .filter((line) => line !== "ok" && line !== "" && !line.startsWith("***"));
