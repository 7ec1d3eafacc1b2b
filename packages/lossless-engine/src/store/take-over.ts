// Makes of a conversation what is shared of it, with the texts of its transcript.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { keyOf } from "../messages/name.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { packMessage } from "./body.ts";
import { chainWriter } from "./chain.ts";
import { placeOf } from "./conversations.ts";
import { insertMessage, insertPlaceholder } from "./messages.ts";
import { removeConversation } from "./remove.ts";
import { sealing, sealOf } from "./seals.ts";
import { indexAfresh, noteStored } from "./search-index.ts";
import type { SharedMessage } from "./shared-rows.ts";
import type { Sql, Store } from "./store.ts";
import { bind, close } from "./summaries.ts";
import { tombstones } from "./tombstones.ts";

/** True: other sessions of the database have some of these numbers. */
export const areTaken = (
  store: Store,
  session: OwnedSession,
  {
    conversation,
    messages,
    summaries,
  }: { conversation: number; messages: readonly number[]; summaries: readonly number[] },
): boolean =>
  store.read((sql) => {
    const own = placeOf(sql, session)?.conversation ?? 0;
    const others = "conversation NOT IN (?, ?) LIMIT 1";
    const isTaken = (table: string, column: string, ids: readonly number[]) =>
      sql(`
        SELECT 1 FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?)) AND ${others}
      `).get(JSON.stringify(ids), own, conversation) !== undefined;
    const isSomebodys =
      own !== conversation &&
      sql("SELECT 1 FROM transcript WHERE conversation = ?").get(conversation) !== undefined;
    return (
      isSomebodys || isTaken("link", "message", messages) || isTaken("summary", "id", summaries)
    );
  });

/** The other sessions of the database that have some of these numbers. */
export const holdersOf = (
  store: Store,
  session: OwnedSession,
  { conversation, messages, summaries }: Parameters<typeof areTaken>[2],
): OwnedSession[] =>
  store.read((sql) => {
    const own = placeOf(sql, session)?.conversation ?? 0;
    return sql(`
      SELECT session_id, session_key FROM transcript WHERE owner = ?1 AND conversation != ?2 AND (
        conversation = ?3
        OR conversation IN (
          SELECT conversation FROM link WHERE message IN (SELECT value FROM json_each(?4)))
        OR conversation IN (
          SELECT conversation FROM summary WHERE id IN (SELECT value FROM json_each(?5)))
      ) ORDER BY id
    `)
      .all(
        ...[session.owner ?? "", own, conversation],
        ...[JSON.stringify(messages), JSON.stringify(summaries)],
      )
      .map(({ session_id, session_key }) => ({
        ...{ sessionId: String(session_id), sessionKey: String(session_key) },
        ...(session.owner !== undefined && { owner: session.owner }),
      }));
  });

/** Takes away what a session's conversation holds, so that all of it can be stored again. */
export const emptyConversation = (
  store: Store,
  session: OwnedSession,
  conversation: number,
): void =>
  store.change((sql) => {
    const own = placeOf(sql, session);
    const before = own?.conversation ?? conversation;
    removeConversation(sql, before);
    sql("DELETE FROM link WHERE conversation IN (?, ?)").run(before, conversation);
    sql("INSERT OR IGNORE INTO conversation (id) VALUES (?)").run(conversation);
    const { sessionId, sessionKey = "", owner = "" } = session;
    const where = "conversation IN (?, ?)";
    sealing(sql, { table: "transcript", where, values: [before, conversation] }, () => {
      sql("UPDATE transcript SET conversation = ? WHERE conversation = ?").run(
        ...[conversation, before],
      );
      if (own === undefined)
        sql(`
          INSERT INTO transcript (session_id, session_key, owner, conversation) VALUES (?, ?, ?, ?)
        `).run(keyOf(sessionId), keyOf(sessionKey), keyOf(owner), conversation);
    });
    // What was read of its file may be more than what is shared.
    sql(`
      DELETE FROM cursor WHERE transcript IN (SELECT id FROM transcript WHERE conversation = ?)
    `).run(conversation);
    if (before !== conversation) sql("DELETE FROM conversation WHERE id = ?").run(before);
  });

/** A message, and where it is. */
export interface PlacedMessage extends Omit<SharedMessage, "message"> {
  readonly message: AgentMessage;
}

/**
 * Behind those that are there, in the order of their numbers. False: one of them is there under
 * another number, and nothing is stored.
 */
export function storePlaced(
  store: Store,
  conversation: number,
  messages: readonly PlacedMessage[],
): boolean {
  const isStored = store.change((sql) => {
    const there = sql("SELECT 1 FROM message WHERE conversation = ? AND id = ?");
    if (messages.some(({ name }) => there.get(conversation, name) !== undefined)) return false;
    const chain = chainWriter(sql, conversation);
    const isGone = tombstones(sql);
    for (const { seq, name, turn, flags, message } of messages) {
      const row = { conversation, name, message, turn, flags, compresses: store.compresses };
      const placed = { ...chain, next: () => seq };
      const grave = isGone?.(message);
      if (grave !== undefined) insertPlaceholder(sql, row, grave, placed);
      else insertMessage(sql, row, packMessage(message), placed);
      indexAfresh(sql, seq);
    }
    const turns = Math.max(0, ...messages.map(({ turn }) => turn));
    sql(`
      UPDATE conversation SET turns = max(turns, ?), messages = messages + ?, newest = ?
      WHERE id = ?
    `).run(turns, messages.length, chain.head(), conversation);
    return true;
  });
  if (isStored) noteStored(store, messages.length);
  return isStored;
}

/** What stands for the messages of a conversation. */
export interface SharedGraph {
  readonly summaries: readonly Record<string, unknown>[];
  /** In their order. */
  readonly cuts: readonly Record<string, unknown>[];
  readonly ledger: { readonly name: string; readonly ledger: Uint8Array } | null;
  /** Keys of turns. */
  readonly turns: readonly string[];
}

/** In the place of what there is. */
export const replaceGraph = (store: Store, conversation: number, graph: SharedGraph): void =>
  store.change((sql) => {
    for (const table of ["cut", "summary", "graph", "advancement"])
      sql(`DELETE FROM ${table} WHERE conversation = ?`).run(conversation);
    putSummaries(sql, conversation, graph.summaries);
    putCuts(sql, conversation, graph);
    const turn = sql("INSERT INTO advancement (conversation, key, seal) VALUES (?, ?, ?)");
    for (const key of graph.turns)
      turn.run(conversation, key, sealOf("advancement", { conversation, key }));
  });

type Value = string | number | null | Uint8Array;

function put(sql: Sql, table: string, row: Record<string, unknown>): void {
  const columns = Object.keys(row);
  const places = columns.map(() => "?").join(", ");
  sql(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`).run(
    ...columns.map((column) => row[column] as Value),
  );
}

/** A part names what it is a part of; what binds that needs the hashes of its parts. */
function putSummaries(
  sql: Sql,
  conversation: number,
  summaries: readonly Record<string, unknown>[],
): void {
  const byDepth = summaries.toSorted((one, other) => Number(other.depth) - Number(one.depth));
  for (const summary of byDepth)
    put(sql, "summary", { ...summary, conversation, hash: new Uint8Array() });
  for (const { id } of byDepth.toReversed()) bind(sql, Number(id));
  if (summaries.length > 0)
    close(sql, conversation, Math.max(...summaries.map(({ last }) => Number(last))));
}

function putCuts(sql: Sql, conversation: number, { cuts, ledger }: SharedGraph): void {
  const all = { table: "cut", where: "conversation = ?", values: [conversation] } as const;
  sealing(sql, all, () => {
    for (const cut of cuts) {
      const known = cut.name === ledger?.name ? ledger : null;
      put(sql, "cut", { ...cut, conversation, ledger: known?.ledger ?? null });
    }
  });
}
