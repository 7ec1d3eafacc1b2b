// Stores long texts once, however many messages hold them.
import { hash } from "node:crypto";
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
    const digest = hashOf(text);
    const known = sql("SELECT id FROM payload WHERE hash = ?").get(digest)?.id;
    const id =
      known ??
      sql("INSERT INTO payload (hash, text) VALUES (?, ?)").run(digest, keptText(text, compresses))
        .lastInsertRowid;
    sql("INSERT INTO payload_use (message, place, payload) VALUES (?, ?, ?)").run(
      ...[message, JSON.stringify(place), id],
    );
  }
}

/** The payloads of a message, to be put back. Throws where one of them is gone or changed. */
export function payloadsOf(sql: Sql, message: number): Payload[] {
  const rows = sql(`
    SELECT place, text, hash FROM payload_use LEFT JOIN payload ON payload.id = payload_use.payload
    WHERE payload_use.message = ?
  `).all(message);
  if (rows.length === 0) throw new Error("Its long texts are not named.");
  return rows.map(({ place, text, hash: told }) => {
    if (text === null) throw new Error("A long text of it is gone.");
    const kept = textKept(text);
    if (!hashOf(kept).equals(told as Uint8Array))
      throw new Error("A long text of it is not what was told.");
    return { place: JSON.parse(String(place)), text: kept };
  });
}

const hashOf = (text: string): Buffer => hash("sha256", text, "buffer");
