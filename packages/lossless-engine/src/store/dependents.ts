// Removes what was made of messages that are forgotten.
import { markStale } from "./forgetting.ts";
import type { Sql } from "./sql.ts";
import { summariesOver, summariseAgain } from "./summaries.ts";
import type { FactsReader } from "./summary-rows.ts";

/** True: something that was made of its conversation stands for the message, and may quote it. */
export const hasDependents = (sql: Sql, seq: number): boolean =>
  summariesOver(sql, [seq]).length > 0 ||
  sql(`
    SELECT 1 FROM cut JOIN message ON message.conversation = cut.conversation WHERE seq = ?
  `).get(seq) !== undefined;

/** Every record: who forgets by hashes alone cannot tell which quote it. */
export function dropRecords(sql: Sql): void {
  sql("DELETE FROM cut").run();
  markStale(sql, true);
}

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
