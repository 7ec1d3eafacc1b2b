// Finds messages by what they say, row after row.
import { othersTurn, pieceOfTime } from "../turns.ts";
import { storageError } from "./failure.ts";
import { messageOf, type StoredMessage } from "./rows.ts";
import type { Sql } from "./sql.ts";

/** Pages that were exchanged bring rows that were read already. */
export const circling = () =>
  storageError(
    "The lossless engine cannot read a database to its end: its pages are out of order; restore a backup of it (clew lossless backups).",
  );

/** Rows that are read at once. */
const SLICE = 64;

/** Numbers of the messages that are sought; others have their turn meanwhile. */
export async function numbersOf(
  read: <Answer>(ask: (sql: Sql) => Answer) => Answer,
  isSought: (stored: StoredMessage) => boolean,
): Promise<number[]> {
  const found: number[] = [];
  let isOver = pieceOfTime();
  for (let from = 0; ; ) {
    const messages = read((sql) =>
      sql("SELECT * FROM message WHERE seq > ? ORDER BY seq LIMIT ?")
        .all(from, SLICE)
        .map((row) => messageOf(sql, row)),
    );
    for (const stored of messages)
      if (stored.isForgotten !== true && isSought(stored)) found.push(stored.seq);
    if (messages.length < SLICE) return found;
    if (messages.at(-1)!.seq <= from) throw circling();
    from = messages.at(-1)!.seq;
    if (!isOver()) continue;
    await othersTurn();
    isOver = pieceOfTime();
  }
}
