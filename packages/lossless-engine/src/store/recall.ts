// Answers what recall asks of the stored messages.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { blocksOf } from "@clew/plugin-sdk/transcript";
import { keyOf } from "../messages/name.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { conversationsOf, placeOf } from "./conversations.ts";
import { messageOf, type StoredMessage } from "./rows.ts";
import type { Store } from "./store.ts";

/** Where to look; null = everywhere in the database. */
export type Scope = readonly number[] | null;

/** The conversations of a session, newest first. */
export const sessionConversations = (store: Store, session: OwnedSession): number[] =>
  store.read((sql) => conversationsOf(sql, session));

/** True: something was stored under this number. */
export const hasConversation = (store: Store, conversation: number): boolean =>
  store.read(
    (sql) => sql("SELECT 1 FROM conversation WHERE id = ?").get(conversation) !== undefined,
  );

/** All that the database holds, newest first. */
export const conversationsIn = (store: Store): number[] =>
  store.read((sql) =>
    sql("SELECT id FROM conversation ORDER BY id DESC")
      .all()
      .map(({ id }) => Number(id)),
  );

/** How many messages a scope holds. */
export const countMessages = (store: Store, scope: Scope): number =>
  store.read((sql) =>
    Number(
      sql(`SELECT sum(messages) AS rows FROM conversation ${within(scope, "WHERE", "id")}`).get(
        ...values(scope),
      )?.rows,
    ),
  );

/** Newer messages are counted no further. */
const MOST_COUNTED = 10_000;

/** How many messages of a scope have this number or a higher one; of very many not all. */
export const countSince = (
  store: Store,
  { scope, since }: { scope: Scope; since: number },
): number =>
  store.read((sql) =>
    Number(
      sql(`
        SELECT count(*) AS rows FROM
          (SELECT 1 FROM message WHERE seq >= ? ${within(scope, "AND")} LIMIT ?)
      `).get(since, ...values(scope), MOST_COUNTED)?.rows,
    ),
  );

/** Those of `numbers` that are there, in the order asked for. */
export const messagesBySeq = (store: Store, numbers: readonly number[]): StoredMessage[] =>
  store.read((sql) =>
    numbers.flatMap((seq) => {
      const row = sql("SELECT * FROM message WHERE seq = ?").get(seq);
      return row === undefined ? [] : [messageOf(sql, row)];
    }),
  );

/** Numbers of the messages of a scope that came before `before`, newest first. */
export const numbersBefore = (
  store: Store,
  { scope, before, limit }: { scope: Scope; before: number; limit: number },
): number[] =>
  store.read((sql) =>
    sql(`SELECT seq FROM message WHERE seq < ? ${within(scope, "AND")} ORDER BY seq DESC LIMIT ?`)
      .all(before, ...values(scope), limit)
      .map(({ seq }) => Number(seq)),
  );

/** The number of the message of this name; of several the newest. Undefined: there is none. */
export const numberOf = (store: Store, scope: Scope, name: string): number | undefined =>
  store.read((sql) => {
    const row = sql(
      `SELECT seq FROM message WHERE id IN (?, ?) ${within(scope, "AND")} ORDER BY seq DESC LIMIT 1`,
    ).get(name, keyOf(name), ...values(scope));
    return row === undefined ? undefined : Number(row.seq);
  });

/** Where the first of these names is stored that is. Undefined: none is. */
export const placeOfMessage = (
  store: Store,
  session: OwnedSession,
  names: readonly string[],
): { conversation: number; seq: number } | undefined =>
  store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return undefined;
    const find = sql("SELECT seq FROM message WHERE conversation = ? AND id = ?");
    for (const name of names) {
      const row = find.get(place.conversation, name);
      if (row !== undefined) return { conversation: place.conversation, seq: Number(row.seq) };
    }
    return undefined;
  });

/** The number of the request that is being answered in a session. Undefined: none is. */
export const openRequest = (store: Store, session: OwnedSession): number | undefined =>
  store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return undefined;
    const newest = sql(
      "SELECT * FROM message WHERE conversation = ? ORDER BY seq DESC LIMIT 1",
    ).get(place.conversation);
    if (newest === undefined || isAnswer(messageOf(sql, newest).message)) return undefined;
    const row = sql(
      "SELECT seq FROM message WHERE conversation = ? AND role = 'user' ORDER BY seq DESC LIMIT 1",
    ).get(place.conversation);
    return row && Number(row.seq);
  });

/** Nothing comes behind it in a turn. */
const isAnswer = (message: AgentMessage): boolean =>
  message.role === "assistant" &&
  !blocksOf(message.content).some(({ type }) => type === "toolCall");

/** The number of the last message of a turn, or of the turn before it. 0: there is none. */
export const endOfTurn = (store: Store, conversation: number, turn: number): number =>
  store.read((sql) =>
    Number(
      sql(
        "SELECT seq FROM message WHERE conversation = ? AND turn <= ? ORDER BY seq DESC LIMIT 1",
      ).get(conversation, turn)?.seq ?? 0,
    ),
  );

/** Messages of one conversation from number `from` to `to`, both included. */
export const messagesBetween = (
  store: Store,
  { scope, from, to, limit }: { scope: Scope; from: number; to: number; limit: number },
): StoredMessage[] =>
  store.read((sql) =>
    sql(
      `SELECT * FROM message WHERE seq BETWEEN ? AND ? ${within(scope, "AND")} ORDER BY seq LIMIT ?`,
    )
      .all(from, to, ...values(scope), limit)
      .map((row) => messageOf(sql, row)),
  );

const within = (scope: Scope, joint: "WHERE" | "AND", column = "conversation") =>
  scope === null ? "" : `${joint} ${column} IN (SELECT value FROM json_each(?))`;

const values = (scope: Scope) => (scope === null ? [] : [JSON.stringify(scope)]);
