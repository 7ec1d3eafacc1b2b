// Finds the rows of messages that are no longer kept.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { keyOf } from "../messages/name.ts";
import { messageOf, type StoredMessage, timeOf } from "./rows.ts";
import type { Sql } from "./sql.ts";

/** In the order in which they came. */
export const messagesIn = (sql: Sql, numbers: readonly number[]): StoredMessage[] =>
  sql("SELECT * FROM message WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq")
    .all(JSON.stringify(numbers))
    .map((row) => messageOf(sql, row));

/** Of a message that says its id. */
export function expiredNamed(sql: Sql, message: AgentMessage): number[] {
  const id = messageId(message);
  if (id === undefined) return [];
  return sql(`
    SELECT seq FROM message JOIN forgotten ON forgotten.message = seq AND expired = 1
    WHERE id = ? AND role = ? AND time IS ?
  `)
    .all(keyOf(id), message.role, timeOf(message))
    .map(({ seq }) => Number(seq));
}
