// Remembers how far the file of a transcript was read.

import { keyOf } from "../messages/name.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { type Place, placeOf } from "./conversations.ts";
import { sealing } from "./seals.ts";
import type { Sql, Store } from "./store.ts";

/** How far a session file was read, and by what to tell that it still is that file. */
export interface Cursor {
  /** Where the last line that was read ends, in bytes. */
  readonly bytes: number;
  /** Length of that line with its line feed, in bytes. */
  readonly lineBytes: number;
  /** SHA-256 of it. */
  readonly lineHash: Uint8Array;
  /** Id of the entry it holds. */
  readonly entry: string;
}

/** Undefined: nothing of it was read. */
export function cursorOf(store: Store, session: OwnedSession): Cursor | undefined {
  return store.read((sql) => {
    const place = placeOf(sql, session);
    const row = place && sql("SELECT * FROM cursor WHERE transcript = ?").get(place.transcript);
    if (row === undefined) return undefined;
    return {
      bytes: Number(row.bytes),
      lineBytes: Number(row.line_bytes),
      lineHash: row.line_hash as Uint8Array,
      entry: String(row.entry),
    };
  });
}

/** How far the files of the owner's transcripts were read, in bytes, by session id. */
export const bytesRead = (store: Store, owner = ""): ReadonlyMap<string, number> =>
  store.read((sql) => {
    const rows = sql(`
      SELECT session_id, bytes FROM cursor JOIN transcript ON transcript.id = cursor.transcript
      WHERE owner = ? OR owner IS NULL
    `).all(keyOf(owner));
    return new Map(rows.map(({ session_id, bytes }) => [String(session_id), Number(bytes)]));
  });

export function moveCursor(sql: Sql, { transcript }: Place, cursor: Cursor): void {
  const { bytes, lineBytes, lineHash, entry } = cursor;
  sealing(sql, { table: "cursor", where: "transcript = ?", values: [transcript] }, () =>
    sql(`
      INSERT OR REPLACE INTO cursor (transcript, bytes, line_bytes, line_hash, entry)
      VALUES (?, ?, ?, ?, ?)
    `).run(transcript, bytes, lineBytes, lineHash, entry),
  );
}
