// Stores messages, each once, and reads them back as they were.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import {
  isNameless,
  keyOf,
  type NamedMessage,
  namesWithoutId,
  withName,
} from "../messages/name.ts";
import { placeholderOf } from "../messages/placeholder.ts";
import { searchTextOf } from "../messages/search-text.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { type PackedMessage, packMessage } from "./body.ts";
import { type ChainWriter, chainWriter, changing, rewriting } from "./chain.ts";
import { makePlace, type Place, placeOf } from "./conversations.ts";
import { type Cursor, moveCursor } from "./cursors.ts";
import { storageError } from "./failure.ts";
import { keptText } from "./kept-text.ts";
import { findRow, hasNameless, type Lookup } from "./known-rows.ts";
import { storePayloads } from "./payloads.ts";
import { FLAGS, messageOf, type StoredMessage, timeOf } from "./rows.ts";
import { sealOf } from "./seals.ts";
import { indexAgain, noteStored } from "./search-index.ts";
import type { Sql, Store } from "./store.ts";
import {
  boundTombstone,
  nameOfForgotten,
  raise,
  type Tombstone,
  tombstones,
} from "./tombstones.ts";

/** Messages that belong to one transcript. */
export interface NewMessages {
  readonly session: OwnedSession;
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
  /** Names of messages that came with the key of an earlier turn, and that nobody told before. */
  readonly reusing: readonly string[];
  /** Those that cannot be written; all others are stored. */
  readonly refused: readonly Refusal[];
}

/** A message that is not stored. */
export interface Refusal {
  readonly name: string;
  /** What writing it came to. */
  readonly why: string;
}

/** What storing nothing comes to. */
export const NOTHING: Storing = { added: 0, isDuplicate: false, reusing: [], refused: [] };

/** All of it at once, or nothing. A message that was told before is left as it is. */
export function storeMessages(store: Store, request: NewMessages): Storing {
  const storing = store.change((sql): Storing => {
    const { session, messages, advancementKey, cursor } = request;
    const place = makePlace(sql, session, messages);
    if (advancementKey !== undefined && !takeKey(sql, place, advancementKey))
      return { ...NOTHING, isDuplicate: true, reusing: neverTold(sql, place, messages) };
    const stored = storeEach(sql, place, { ...request, compresses: store.compresses });
    if (cursor !== undefined) moveCursor(sql, place, cursor);
    return { ...NOTHING, ...stored };
  });
  noteStored(store, storing.added);
  return storing;
}

/** What a transcript's conversation holds. */
export interface KnownNames {
  /** Those that were asked for. */
  readonly known: ReadonlySet<string>;
  /** True: some message is stored without an id. */
  readonly hasNameless: boolean;
}

export function knownNames(
  store: Pick<Store, "read">,
  session: OwnedSession,
  names: readonly string[],
): KnownNames {
  return store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return { known: new Set(), hasNameless: false };
    const find = sql("SELECT 1 FROM message WHERE conversation = ? AND id = ?");
    return {
      known: new Set(names.filter((name) => find.get(place.conversation, name) !== undefined)),
      hasNameless: hasNameless(sql, place.conversation),
    };
  });
}

/** Names of the conversation's messages that were said in runs that the host began by itself. */
export function heartbeatNames(store: Store, session: OwnedSession): ReadonlySet<string> {
  return store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return new Set();
    const rows = sql("SELECT id FROM message WHERE conversation = ? AND flags & 2").all(
      place.conversation,
    );
    return new Set(rows.map(({ id }) => String(id)));
  });
}

/** By the names of messages: what they are known by where a host gives no ids. */
export function namesWithoutIdOf(
  store: Store,
  session: OwnedSession,
  names: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  return store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return new Map();
    const find = sql("SELECT * FROM message WHERE conversation = ? AND id = ?");
    return new Map(
      names.flatMap((name) => {
        const row = find.get(place.conversation, name);
        return row === undefined
          ? []
          : [[name, namesWithoutId(messageOf(sql, row).message)] as const];
      }),
    );
  });
}

/** The transcript's message of this name; undefined = it holds none. */
export function messageNamed(
  store: Store,
  session: OwnedSession,
  name: string,
): AgentMessage | undefined {
  return store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return undefined;
    const row = sql("SELECT * FROM message WHERE conversation = ? AND id = ?").get(
      ...[place.conversation, name],
    );
    return row === undefined ? undefined : withName(messageOf(sql, row));
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

/** Messages of the transcript's conversation behind number `after`, in the order they came. */
export const messagesBehind = (
  store: Store,
  { session, after, limit }: { session: OwnedSession; after: number; limit: number },
): StoredMessage[] =>
  store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return [];
    return sql("SELECT * FROM message WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?")
      .all(place.conversation, after, limit)
      .map((row) => messageOf(sql, row));
  });

/** Names of the newest messages of the transcript's conversation, oldest first. */
export function newestNames(store: Store, session: OwnedSession, limit: number): string[] {
  return store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return [];
    return sql("SELECT id FROM message WHERE conversation = ? ORDER BY seq DESC LIMIT ?")
      .all(place.conversation, limit)
      .map(({ id }) => String(id))
      .reverse();
  });
}

/** The newest messages of the session's conversation, the newest last. */
export function newestMessages(store: Store, session: OwnedSession, limit: number): AgentMessage[] {
  return store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return [];
    return sql("SELECT * FROM message WHERE conversation = ? ORDER BY seq DESC LIMIT ?")
      .all(place.conversation, limit)
      .map((row) => messageOf(sql, row).message)
      .reverse();
  });
}

/** True: the turn of this key was not stored before. */
function takeKey(sql: Sql, { conversation }: Place, given: string): boolean {
  const key = given.isWellFormed() ? given : keyOf(given);
  const seal = sealOf("advancement", { conversation, key });
  const insert = sql(
    "INSERT INTO advancement (conversation, key, seal) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  return insert.run(conversation, key, seal).changes === 1;
}

/** Of those that have ids and could be stored: a turn that is committed again holds them all. */
function neverTold(
  sql: Sql,
  { conversation }: Place,
  messages: readonly NamedMessage[],
): readonly string[] {
  const lookup = { sql, conversation, from: "told" as const, taken: new Set<number>() };
  return messages
    .filter((told) => !isNameless(told.name) && findRow(lookup, told).row === undefined)
    .filter(({ message, name }) => packedOr(message, name, []) !== undefined)
    .map(({ name }) => name);
}

function storeEach(
  sql: Sql,
  { conversation }: Place,
  { messages, from, advancementKey, compresses }: NewMessages & Pick<Store, "compresses">,
): Pick<Storing, "added" | "refused"> {
  const before = turnsOf(sql, conversation);
  let turn = before;
  let added = 0;
  const refused: Refusal[] = [];
  const lookup: Lookup = { sql, conversation, from, taken: new Set() };
  const chain = chainWriter(sql, conversation);
  const isGone = tombstones(sql);
  for (const told of messages) {
    const { name, message, isHeartbeat = false } = told;
    const grave = isGone?.(message);
    if (grave !== undefined) {
      const row = { conversation, name: isNameless(name) ? nameOfForgotten(grave) : name };
      if (isThere(sql, row)) continue;
      if (message.role === "user") turn++;
      insertPlaceholder(sql, { ...row, message, turn, flags: 0, compresses }, grave, chain);
      added++;
      continue;
    }
    const flags = (from === "seen" ? FLAGS.seen : 0) | (isHeartbeat ? FLAGS.heartbeat : 0);
    const found = findRow(lookup, told);
    lookup.isNewTurn ??= advancementKey !== undefined && found.row === undefined;
    if (found.row === undefined) {
      const packed = packedOr(message, name, refused);
      if (packed === undefined) continue;
      if (message.role === "user") turn++;
      const row = { conversation, name: found.name, message, turn, flags, compresses };
      lookup.taken.add(insertMessage(sql, row, packed, chain));
      added++;
    } else if (from === "told" && (found.row.flags & FLAGS.seen) !== 0) {
      const packed = packedOr(message, name, refused);
      if (packed !== undefined) replace(sql, found.row.seq, { message, flags, compresses }, packed);
    } else if (isHeartbeat && (found.row.flags & FLAGS.heartbeat) === 0) {
      const { seq } = found.row;
      const mark = sql("UPDATE message SET flags = flags | ? WHERE seq = ?");
      changing(sql, seq, () => mark.run(FLAGS.heartbeat, seq));
    }
  }
  if (added > 0) {
    requireArrived(sql, { next: chain.next(), added });
    sql("UPDATE conversation SET turns = ?, messages = messages + ?, newest = ? WHERE id = ?").run(
      ...[turn, added, chain.head(), conversation],
    );
  }
  return { added, refused };
}

/** Another program may have told the database to leave what it is given, or to remove it. */
function requireArrived(sql: Sql, { next, added }: { next: number; added: number }): void {
  const { rows } = sql("SELECT count(*) AS rows FROM message WHERE seq >= ?").get(next - added)!;
  if (Number(rows) === added) return;
  throw storageError(
    `The lossless engine did not store ${added - Number(rows)} of ${added} messages: its database took them and does not hold them; run clew lossless verify, and keep a copy of the file.`,
  );
}

/** A message nested so deep that nothing can write it keeps no other from being stored. */
function packedOr(
  message: AgentMessage,
  name: string,
  refused: Refusal[],
): PackedMessage | undefined {
  try {
    return packMessage(message);
  } catch (error) {
    refused.push({ name, why: error instanceof Error ? error.message : String(error) });
    return undefined;
  }
}

/** Of what was forgotten a placeholder keeps the place. */
export function insertPlaceholder(
  sql: Sql,
  row: NewRow,
  grave: Tombstone,
  chain: ChainWriter,
): void {
  const message = placeholderOf(row.message, grave.absence);
  // Its link binds the tombstone.
  raise(sql, chain.next(), grave);
  insertMessage(sql, { ...row, message, flags: FLAGS.forgotten }, packMessage(message), chain);
}

const isThere = (sql: Sql, { conversation, name }: Pick<NewRow, "conversation" | "name">) =>
  sql("SELECT 1 FROM message WHERE conversation = ? AND id = ?").get(conversation, name) !==
  undefined;

interface Row extends Pick<Store, "compresses"> {
  message: AgentMessage;
  flags: number;
}

/** A message that has no row yet. */
export interface NewRow extends Row {
  name: string;
  conversation: number;
  turn: number;
}

/** Its number. */
export function insertMessage(
  sql: Sql,
  row: NewRow,
  { body, payloads }: PackedMessage,
  chain: ChainWriter,
): number {
  const { conversation, name, message, turn, compresses } = row;
  const [role, time] = [message.role, timeOf(message)];
  const flags = flagsWith(row.flags, payloads);
  const kept = keptText(body, compresses);
  const seq = chain.next();
  sql(`
    INSERT INTO message (seq, conversation, id, turn, role, time, flags, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  `).run(seq, ...[conversation, name, turn, role, time, flags, kept]);
  const apart = storePayloads(sql, seq, { payloads, compresses });
  const bound = { seq, conversation, id: name, turn, role, time, flags, body: kept };
  const tombstone = (flags & FLAGS.forgotten) === 0 ? [] : boundTombstone(sql, seq);
  chain.add({ ...bound, payloads: [...apart, ...tombstone] });
  return seq;
}

/** The message as its host tells it, in place of what was seen of it. */
function replace(
  sql: Sql,
  seq: number,
  { message, flags, compresses }: Row,
  { body, payloads }: PackedMessage,
): void {
  const row = sql("SELECT * FROM message WHERE seq = ?").get(seq)!;
  if (JSON.stringify(messageOf(sql, row).message) === JSON.stringify(message)) {
    const kept = Number(row.flags) & (FLAGS.hasPayloads | FLAGS.left);
    const mark = sql("UPDATE message SET flags = ? WHERE seq = ?");
    rewriting(sql, seq, () => mark.run(flags | kept, seq));
    return;
  }
  rewriting(sql, seq, () => {
    sql("DELETE FROM payload_use WHERE message = ?").run(seq);
    sql("UPDATE message SET body = ?, flags = ? WHERE seq = ?").run(
      ...[keptText(body, compresses), flagsWith(flags, payloads), seq],
    );
    storePayloads(sql, seq, { payloads, compresses });
  });
  indexAgain(sql, seq, searchTextOf(message));
}

const flagsWith = (flags: number, payloads: readonly unknown[]) =>
  payloads.length === 0 ? flags : flags | FLAGS.hasPayloads;

const turnsOf = (sql: Sql, conversation: number) =>
  Number(sql("SELECT turns FROM conversation WHERE id = ?").get(conversation)?.turns);
