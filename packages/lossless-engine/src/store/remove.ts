// Removes all that was stored of a session, of which nothing but numbers in use stays.
import type { OwnedSession } from "../sessions/owner.ts";
import { LINK_BYTES } from "./chain.ts";
import { conversationsOf } from "./conversations.ts";
import { unnameTranscripts } from "./forget.ts";
import { markStale } from "./forgetting.ts";
import { forgetWords } from "./search-index.ts";
import type { Sql, Store } from "./store.ts";
import { forgetTrigrams } from "./trigram-index.ts";

/**
 * All of it at once, or nothing; how many messages it were. Their links stay and say nothing, so
 * that no other message gets their numbers. Pages may hold the words until `scrub`.
 */
export const removeSession = (store: Store, session: OwnedSession): number =>
  store.change((sql) => {
    const conversations = conversationsOf(sql, session);
    const removed = conversations.map((conversation) => removeConversation(sql, conversation));
    unnameTranscripts(sql, conversations);
    if (conversations.length > 0) markStale(sql, true);
    return removed.reduce((sum, count) => sum + count, 0);
  });

/** True: its links tell of messages that were removed with their session, and none is missing. */
export const isRemoved = (sql: Sql, conversation: number): boolean =>
  sql("SELECT 1 FROM conversation WHERE id = ? AND newest IS NULL AND messages = 0").get(
    conversation,
  ) !== undefined;

/** What was said in one; its links stay. How many messages it were. */
export function removeConversation(sql: Sql, conversation: number): number {
  const numbers = sql("SELECT seq FROM message WHERE conversation = ?")
    .all(conversation)
    .map(({ seq }) => Number(seq));
  const all = JSON.stringify(numbers);
  const payloads = sql(
    "SELECT DISTINCT payload FROM payload_use WHERE message IN (SELECT value FROM json_each(?))",
  )
    .all(all)
    .map(({ payload }) => Number(payload));
  forgetTrigrams(sql, numbers);
  for (const seq of numbers) forgetWords(sql, seq);
  for (const table of ["payload_use", "forgotten"])
    sql(`DELETE FROM ${table} WHERE message IN (SELECT value FROM json_each(?))`).run(all);
  for (const table of ["change", "cut", "summary", "graph", "advancement", "message"])
    sql(`DELETE FROM ${table} WHERE conversation = ?`).run(conversation);
  sql(`
    DELETE FROM payload WHERE id IN (SELECT value FROM json_each(?))
      AND NOT EXISTS (SELECT 1 FROM payload_use WHERE payload_use.payload = payload.id)
  `).run(JSON.stringify(payloads));
  // A hash of known words would confirm a guess.
  sql("UPDATE link SET hash = randomblob(?) WHERE conversation = ?").run(LINK_BYTES, conversation);
  sql(`
    UPDATE conversation SET turns = 0, messages = 0, newest = NULL, changed = NULL, summarised = 0
    WHERE id = ?
  `).run(conversation);
  return numbers.length;
}
