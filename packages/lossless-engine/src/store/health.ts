// Tells how much the database holds, and whether all of it can be read.

import type { OwnedSession } from "../sessions/owner.ts";
import { conversationsOf } from "./conversations.ts";
import { markRow } from "./mark-damaged.ts";
import { messageOf } from "./rows.ts";
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
    conversations: count(sql, "SELECT count(*) AS number FROM conversation"),
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

/** Up to where messages were read, and what was found. */
export interface Reading {
  /** Number of the last message that was read; null = there are no more. */
  readonly upTo: number | null;
  readonly read: number;
  /** Numbers of those that do not come back as messages. */
  readonly broken: readonly number[];
}

const ROWS_AT_ONCE = 16;

/** Reads messages behind number `from` until `isOver` says so, at least a few. */
export function readOn(store: Store, from: number, isOver: () => boolean): Reading {
  return store.read((sql) => {
    const broken: number[] = [];
    let [upTo, read] = [from, 0];
    for (;;) {
      const rows = sql("SELECT * FROM message WHERE seq > ? ORDER BY seq LIMIT ?").all(
        ...[upTo, ROWS_AT_ONCE],
      );
      for (const row of rows) {
        upTo = Number(row.seq);
        read++;
        if (messageOf(sql, row).isDamaged) broken.push(upTo);
      }
      if (rows.length < ROWS_AT_ONCE) return { upTo: null, read, broken };
      if (isOver()) return { upTo, read, broken };
    }
  });
}

/**
 * Whoever tells of these messages once more gives them back; the files that told of them are read
 * again from their beginning.
 */
export const markDamaged = (store: Store, numbers: readonly number[]): void =>
  store.change((sql) => {
    for (const seq of numbers) markRow(sql, seq);
  });

const count = (sql: Sql, question: string) => Number(sql(question).get()?.number);
