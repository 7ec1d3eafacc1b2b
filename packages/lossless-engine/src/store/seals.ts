// Seals records, names of sessions, marks and the salt by a hash of what each row says.
import { hash } from "node:crypto";
import { isSame } from "./chain.ts";
import type { Sql } from "./sql.ts";

/** What a seal binds, by table; the first columns are the table's key. */
export const SEALED = {
  transcript: {
    key: ["id"],
    columns: ["id", "session_id", "session_key", "owner", "conversation"],
  },
  cut: {
    key: ["id"],
    columns: [
      ...["id", "conversation", "name", "first", "request", "ceiling", "estimate", "high"],
      ...["time", "covered", "parts", "record", "ledger"],
    ],
  },
  cursor: {
    key: ["transcript"],
    columns: ["transcript", "bytes", "line_bytes", "line_hash", "entry"],
  },
  advancement: { key: ["conversation", "key"], columns: ["conversation", "key"] },
  forgetting: { key: ["only"], columns: ["only", "salt", "stale", "carried"] },
} as const;
export type SealedTable = keyof typeof SEALED;

type Row = Record<string, unknown>;

/** Of SHA-256. */
const SEAL_BYTES = 20;

/** Pure: SHA-256 of all that the row says. */
export function sealOf(table: SealedTable, row: Row): Uint8Array {
  const said = SEALED[table].columns.map((column) => {
    const value = row[column];
    return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
  });
  return hash("sha256", JSON.stringify([table, said]), "buffer").subarray(0, SEAL_BYTES);
}

/** Pure. */
export const isSealed = (table: SealedTable, row: Row): boolean =>
  isSame(row.seal, sealOf(table, row));

/** Rows of a table: those for which a condition holds. */
interface Chosen {
  readonly table: SealedTable;
  readonly where: string;
  readonly values: readonly (string | number)[];
}

/**
 * Adds or changes rows, and seals them. One whose seal was broken before stays so: an audit goes on
 * to find it.
 */
export function sealing<Result>(sql: Sql, chosen: Chosen, change: () => Result): Result {
  const { table, where, values } = chosen;
  const { key } = SEALED[table];
  const rows = () => sql(`SELECT * FROM ${table} WHERE ${where}`).all(...values);
  const nameOf = (row: Row) => JSON.stringify(key.map((column) => row[column]));
  const before = new Map(rows().map((row) => [nameOf(row), row]));
  const broken = new Set(
    [...before].flatMap(([name, row]) => (isSealed(table, row) ? [] : [name])),
  );
  const result = change();
  const at = key.map((column) => `${column} = ?`).join(" AND ");
  const find = sql(`SELECT * FROM ${table} WHERE ${at}`);
  const keysOf = (row: Row) => key.map((column) => row[column] as string | number);
  const changed = new Map(
    [...before.values()].flatMap((row) => {
      const now = find.get(...keysOf(row));
      return now === undefined ? [] : [[nameOf(row), now] as const];
    }),
  );
  for (const row of rows()) changed.set(nameOf(row), row);
  const put = sql(`UPDATE ${table} SET seal = ? WHERE ${at}`);
  for (const [name, row] of changed)
    if (!broken.has(name) && !isSealed(table, row)) put.run(sealOf(table, row), ...keysOf(row));
  return result;
}

/** Of a database of an older version. */
export function sealAll(sql: Sql, tables: readonly SealedTable[]): void {
  for (const table of tables) {
    const { key } = SEALED[table];
    const put = sql(
      `UPDATE ${table} SET seal = ? WHERE ${key.map((column) => `${column} = ?`).join(" AND ")}`,
    );
    for (const row of sql(`SELECT * FROM ${table}`).all())
      put.run(sealOf(table, row), ...key.map((column) => row[column] as string | number));
  }
}
