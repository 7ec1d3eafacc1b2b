// Stores messages, each once, and reads them back as they were.
import type { AgentMessage, SessionRef } from "@clew/plugin-sdk/core";
import type { NamedMessage } from "../messages/name.ts";
import { searchTextOf } from "../messages/search-text.ts";
import { packMessage } from "./body.ts";
import { makePlace, type Place, placeOf } from "./conversations.ts";
import { type Cursor, moveCursor } from "./cursors.ts";
import { keptText } from "./kept-text.ts";
import { storePayloads } from "./payloads.ts";
import { FLAGS, messageOf, nameAndTime, type StoredMessage, timeOf } from "./rows.ts";
import { indexAgain } from "./search-index.ts";
import type { Sql, Store } from "./store.ts";

/** Messages that belong to one transcript. */
export interface NewMessages {
  readonly session: SessionRef;
  /** Oldest first. */
  readonly messages: readonly NamedMessage[];
  /**
   * "seen": in a view, where a host may have shortened them; the first that is "told" takes the
   * place of one that was only seen.
   */
  readonly from: "told" | "seen";
  /** The durable turn they are, which is stored with them. Absent: none. */
  readonly advancementKey?: string | undefined;
  /** Up to where their session file is read with them. Absent: it was not. */
  readonly cursor?: Cursor | undefined;
}

/** What storing came to. */
export interface Storing {
  /** Messages that were not there before. */
  readonly added: number;
  /** True: the turn of that key is there already, and nothing was stored. */
  readonly isDuplicate: boolean;
}

/** All of it at once, or nothing. A message that was told before is left as it is. */
export function storeMessages(store: Store, request: NewMessages): Storing {
  return store.change((sql) => {
    const { session, messages, advancementKey, cursor } = request;
    const place = makePlace(sql, session, messages.map(nameAndTime));
    if (advancementKey !== undefined && !takeKey(sql, place, advancementKey))
      return { added: 0, isDuplicate: true };
    const added = storeEach(sql, place, { ...request, compresses: store.compresses });
    if (cursor !== undefined) moveCursor(sql, place, cursor);
    return { added, isDuplicate: false };
  });
}

/** Those of `names` that the transcript's conversation holds. */
export function knownNames(
  store: Store,
  session: SessionRef,
  names: readonly string[],
): ReadonlySet<string> {
  return store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return new Set();
    const find = sql("SELECT 1 FROM message WHERE conversation = ? AND id = ?");
    return new Set(names.filter((name) => find.get(place.conversation, name) !== undefined));
  });
}

/** Names of the conversation's messages that were said in runs that the host began by itself. */
export function heartbeatNames(store: Store, session: SessionRef): ReadonlySet<string> {
  return store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return new Set();
    const rows = sql("SELECT id FROM message WHERE conversation = ? AND flags & 2").all(
      place.conversation,
    );
    return new Set(rows.map(({ id }) => String(id)));
  });
}

/** Messages of a conversation from number `from` on, in the order in which they came. */
export function readMessages(
  store: Store,
  { conversation, from = 0, limit }: { conversation: number; from?: number; limit: number },
): StoredMessage[] {
  return store.read((sql) =>
    sql("SELECT * FROM message WHERE conversation = ? AND seq >= ? ORDER BY seq LIMIT ?")
      .all(conversation, from, limit)
      .map((row) => messageOf(sql, row)),
  );
}

/** All messages of the transcript's conversation, in the order in which they came. */
export function conversationMessages(store: Store, session: SessionRef): AgentMessage[] {
  return store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return [];
    return sql("SELECT * FROM message WHERE conversation = ? ORDER BY seq")
      .all(place.conversation)
      .map((row) => messageOf(sql, row).message);
  });
}

/** True: the turn of this key was not stored before. */
const takeKey = (sql: Sql, { conversation }: Place, key: string): boolean =>
  sql("INSERT INTO advancement (conversation, key) VALUES (?, ?) ON CONFLICT DO NOTHING").run(
    ...[conversation, key],
  ).changes === 1;

function storeEach(
  sql: Sql,
  { conversation }: Place,
  { messages, from, compresses }: NewMessages & Pick<Store, "compresses">,
): number {
  const before = turnsOf(sql, conversation);
  let turn = before;
  let added = 0;
  for (const { name, message, isHeartbeat = false } of messages) {
    const flags = (from === "seen" ? FLAGS.seen : 0) | (isHeartbeat ? FLAGS.heartbeat : 0);
    const known = sql("SELECT seq, flags FROM message WHERE conversation = ? AND id = ?").get(
      ...[conversation, name],
    );
    if (known === undefined) {
      if (message.role === "user") turn++;
      insert(sql, { conversation, name, message, turn, flags, compresses });
      added++;
    } else if (from === "told" && (Number(known.flags) & FLAGS.seen) !== 0)
      replace(sql, Number(known.seq), { name, message, flags, compresses });
    else if (isHeartbeat)
      sql("UPDATE message SET flags = flags | ? WHERE seq = ?").run(FLAGS.heartbeat, known.seq!);
  }
  if (turn !== before)
    sql("UPDATE conversation SET turns = ? WHERE id = ?").run(turn, conversation);
  return added;
}

interface Row extends NamedMessage, Pick<Store, "compresses"> {
  flags: number;
}

interface NewRow extends Row {
  conversation: number;
  turn: number;
}

function insert(sql: Sql, row: NewRow): void {
  const { conversation, name, message, turn, flags, compresses } = row;
  const { body, payloads } = packMessage(message);
  const { lastInsertRowid } = sql(`
    INSERT INTO message (conversation, id, turn, role, time, flags, body)
    VALUES (?, ?, ?, ?, ?, ?, ?)
  `).run(
    ...[conversation, name, turn, message.role, timeOf(message)],
    ...[flagsWith(flags, payloads), keptText(body, compresses)],
  );
  storePayloads(sql, Number(lastInsertRowid), { payloads, compresses });
}

/** The message as its host tells it, in place of what was seen of it. */
function replace(sql: Sql, seq: number, { message, flags, compresses }: Row): void {
  const row = sql("SELECT * FROM message WHERE seq = ?").get(seq)!;
  if (JSON.stringify(messageOf(sql, row).message) === JSON.stringify(message)) {
    const kept = Number(row.flags) & FLAGS.hasPayloads;
    sql("UPDATE message SET flags = ? WHERE seq = ?").run(flags | kept, seq);
    return;
  }
  const { body, payloads } = packMessage(message);
  sql("DELETE FROM payload_use WHERE message = ?").run(seq);
  sql("UPDATE message SET body = ?, flags = ? WHERE seq = ?").run(
    ...[keptText(body, compresses), flagsWith(flags, payloads), seq],
  );
  storePayloads(sql, seq, { payloads, compresses });
  indexAgain(sql, seq, searchTextOf(message));
}

const flagsWith = (flags: number, payloads: readonly unknown[]) =>
  payloads.length === 0 ? flags : flags | FLAGS.hasPayloads;

const turnsOf = (sql: Sql, conversation: number) =>
  Number(sql("SELECT turns FROM conversation WHERE id = ?").get(conversation)?.turns);
