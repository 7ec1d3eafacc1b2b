// Reads what a database of any version says beside its messages, and might quote of them.
import { textsIn } from "../messages/placeholder.ts";
import { hasTable } from "./graves.ts";
import { textKept } from "./kept-text.ts";
import type { Sql } from "./sql.ts";

/** Tables whose texts were made of messages. */
const MADE_OF_MESSAGES: readonly string[] = ["summary", "cut"];
/** Columns that name something and quote nothing. */
const NAMES: ReadonlySet<string> = new Set([
  ...["name", "first", "request", "model", "hash", "seal"],
]);

/**
 * Texts of summaries, records and ledgers, and long texts that no message holds. Null: nobody can
 * tell what it says.
 */
export function* textsBeside(sql: Sql): Generator<string | null> {
  for (const table of MADE_OF_MESSAGES.filter((each) => hasTable(sql, each)))
    for (const row of sql(`SELECT * FROM ${table}`).iterate())
      for (const [column, value] of Object.entries(row))
        if (!NAMES.has(column)) yield* textsOf(value);
  if (hasTable(sql, "payload"))
    for (const { text } of sql(`
      SELECT text FROM payload WHERE id NOT IN (SELECT payload FROM payload_use)
    `).iterate())
      yield* textsOf(text);
}

/** Of a message that cannot be read, as far as that goes. */
export function* textsOfDamaged(sql: Sql, seq: number): Generator<string | null> {
  yield* textsOf(sql("SELECT body FROM message WHERE seq = ?").get(seq)?.body);
  for (const { text } of sql(`
    SELECT text FROM payload_use LEFT JOIN payload ON payload.id = payload_use.payload
    WHERE message = ?
  `).iterate(seq))
    yield* textsOf(text);
}

/** Of a column; of JSON the texts that stand in it. */
function textsOf(value: unknown): (string | null)[] {
  if (typeof value !== "string" && !(value instanceof Uint8Array)) return [];
  try {
    const text = textKept(value);
    return /^[[{]/.test(text) ? textsIn(parsedOr(text)) : [text];
  } catch {
    return [null];
  }
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
