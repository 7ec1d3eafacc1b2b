// Stores long texts once, however many messages hold them.
import { createHash } from "node:crypto";
import type { Payload } from "./body.ts";
import { keptText, textKept } from "./kept-text.ts";
import type { Sql } from "./store.ts";

/** The payloads of a message that was just stored. */
export function storePayloads(
  sql: Sql,
  message: number,
  { payloads, compresses }: { payloads: readonly Payload[]; compresses: boolean },
): void {
  for (const { place, text } of payloads) {
    const hash = createHash("sha256").update(text).digest();
    const known = sql("SELECT id FROM payload WHERE hash = ?").get(hash)?.id;
    const id =
      known ??
      sql("INSERT INTO payload (hash, text) VALUES (?, ?)").run(hash, keptText(text, compresses))
        .lastInsertRowid;
    sql("INSERT INTO payload_use (message, place, payload) VALUES (?, ?, ?)").run(
      ...[message, JSON.stringify(place), id],
    );
  }
}

/** The payloads of a message, to be put back. */
export function payloadsOf(sql: Sql, message: number): Payload[] {
  return sql(`
    SELECT place, text FROM payload_use JOIN payload ON payload.id = payload_use.payload
    WHERE payload_use.message = ?
  `)
    .all(message)
    .map((row) => ({ place: JSON.parse(String(row.place)), text: textKept(row.text) }));
}
