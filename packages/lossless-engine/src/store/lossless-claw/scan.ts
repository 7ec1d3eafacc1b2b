// Meets each row of a table once, and leaves others their turn.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { othersTurn, pieceOfTime } from "../../turns.ts";
import type { Sql } from "../sql.ts";
import { columnsOf } from "./columns.ts";

/** A row with nothing in it takes so many of its file. */
const ROW_BYTES = 4;
const MOST_ROWS = 20_000_000;

type Row = Record<string, unknown>;

export type Scan = (table: string, columns: string, look: (row: Row) => void) => Promise<void>;

/** Each row of a table, while there are no more than a file of so many bytes has room for. */
export function scanner(
  sql: Sql,
  { path, bytes, signal }: { path: string; bytes: number; signal: AbortSignal | undefined },
): Scan {
  const most = Math.min(MOST_ROWS, bytes / ROW_BYTES);
  return async (table, columns, look) => {
    if (columnsOf(sql, table).size === 0) return;
    let [rows, isOver] = [0, pieceOfTime()];
    for (const row of sql(`SELECT ${columns} FROM ${table} NOT INDEXED`).iterate()) {
      if (++rows > most)
        throw new ContextEngineError(
          "REQUEST_INVALID",
          `${path} cannot be read: its table ${table} brings more rows than the file has room for; mend it with the sqlite3 program (.recover), or migrate a backup of it.`,
        );
      look(row);
      if (!isOver()) continue;
      await othersTurn();
      signal?.throwIfAborted();
      isOver = pieceOfTime();
    }
  };
}
