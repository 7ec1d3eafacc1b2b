// Tells how much the database holds.

import type { OwnedSession } from "../sessions/owner.ts";
import { conversationsOf } from "./conversations.ts";
import type { Sql, Store } from "./store.ts";

/** How much there is. */
export interface Holdings {
  readonly messages: number;
  readonly conversations: number;
}

/** Everything in the database. */
export const holdingsOf = (store: Store): Holdings & { bytes: number } =>
  store.read((sql) => ({
    messages: count(sql, "SELECT total(messages) AS number FROM conversation"),
    conversations: count(sql, "SELECT count(*) AS number FROM conversation WHERE messages > 0"),
    bytes:
      count(sql, "SELECT page_count AS number FROM pragma_page_count") *
      count(sql, "SELECT page_size AS number FROM pragma_page_size"),
  }));

/** What belongs to the session. */
export const holdingsOfSession = (store: Store, session: OwnedSession): Holdings =>
  store.read((sql) => {
    const conversations = conversationsOf(sql, session);
    const { number } = sql(
      "SELECT total(messages) AS number FROM conversation WHERE id IN (SELECT value FROM json_each(?))",
    ).get(JSON.stringify(conversations))!;
    return { messages: Number(number), conversations: conversations.length };
  });

/** Times of the oldest and the newest message, whenever they came, ms since the epoch. */
export const timesOf = (store: Store): { first: number | null; last: number | null } =>
  store.read((sql) => {
    const { first, last } = sql("SELECT min(time) AS first, max(time) AS last FROM message").get()!;
    return {
      first: first === null ? null : Number(first),
      last: last === null ? null : Number(last),
    };
  });

const count = (sql: Sql, question: string) => Number(sql(question).get()?.number);
