// Stores long texts once, however many messages hold them.
import { hash } from "node:crypto";
import type { Payload } from "./body.ts";
import { keptText, textKept } from "./kept-text.ts";
import type { Sql } from "./sql.ts";

/** A text that stands apart from its message, as a link binds it. */
export interface BoundPayload {
  /** JSON of the keys that lead to it. */
  readonly place: string;
  /** SHA-256 of the text. */
  readonly hash: Uint8Array;
}

/** The payloads of a message that was just stored; what a link binds of them. */
export function storePayloads(
  sql: Sql,
  message: number,
  { payloads, compresses }: { payloads: readonly Payload[]; compresses: boolean },
): BoundPayload[] {
  return payloads.map(({ place: keys, text }) => {
    const place = JSON.stringify(keys);
    const digest = payloadHash(text);
    const known = sql("SELECT id FROM payload WHERE hash = ?").get(digest)?.id;
    const id =
      known ??
      sql("INSERT INTO payload (hash, text) VALUES (?, ?)").run(digest, keptText(text, compresses))
        .lastInsertRowid;
    sql("INSERT INTO payload_use (message, place, payload) VALUES (?, ?, ?)").run(
      ...[message, place, id],
    );
    return { place, hash: digest };
  });
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
    if (!payloadHash(kept).equals(told as Uint8Array))
      throw new Error("A long text of it is not what was told.");
    return { place: JSON.parse(String(place)), text: kept };
  });
}

/** What a payload is known by. */
export const payloadHash = (text: string): Buffer => hash("sha256", text, "buffer");
