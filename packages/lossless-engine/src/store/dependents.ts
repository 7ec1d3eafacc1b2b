// Removes what was made of messages that are forgotten.
import type { Sql } from "./sql.ts";
import { summariseAgain } from "./summaries.ts";
import type { FactsReader } from "./summary-rows.ts";

/**
 * In the transaction that forgets these messages of the conversation, after it did. Records quote
 * what they stand for, and are made again when a view needs one; so are summaries, at once.
 */
export function forgetDependents(
  sql: Sql,
  conversation: number,
  numbers: ReadonlySet<number>,
  reader: FactsReader,
): void {
  sql("DELETE FROM cut WHERE conversation = ?").run(conversation);
  summariseAgain(sql, [...numbers], reader);
}
