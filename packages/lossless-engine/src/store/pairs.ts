// Finds the messages that go with one that is forgotten.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { blocksOf, textOf } from "@clew/plugin-sdk/transcript";
import { isSummary } from "../messages/quoting.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { conversationsOf } from "./conversations.ts";
import { ledgerIn } from "./cuts.ts";
import { messageOf, type StoredMessage } from "./rows.ts";
import type { Sql, Store } from "./store.ts";

/**
 * Of this id, in whichever session, without what is forgotten already; what is no longer kept may
 * be quoted somewhere, and is forgotten as well.
 */
export const messagesWithId = (store: Store, id: string): StoredMessage[] =>
  store.read((sql) => present(sql, "SELECT * FROM message WHERE id = ? ORDER BY seq", id));

/** The message of this number, and its copies in other sessions: they have its id. */
export const messageWithCopies = (store: Store, number: number): StoredMessage[] =>
  store.read((sql) => {
    const [own] = present(sql, "SELECT * FROM message WHERE seq = ?", number);
    if (own === undefined) return [];
    const copies = present(sql, "SELECT * FROM message WHERE id = ? ORDER BY seq", own.name);
    return [own, ...copies.filter((copy) => copy.seq !== number && isCopy(copy, own))];
  });

/** All that is kept of it, in all of its conversations. */
export const messagesOfSession = (store: Store, session: OwnedSession): StoredMessage[] =>
  store.read((sql) =>
    conversationsOf(sql, session).flatMap((conversation) =>
      present(sql, "SELECT * FROM message WHERE conversation = ? ORDER BY seq", conversation),
    ),
  );

/** Hosts that count anew in each transcript repeat ids. */
const isCopy = (one: StoredMessage, other: StoredMessage) =>
  one.message.role === other.message.role && textOf(one.message) === textOf(other.message);

const present = (sql: Sql, question: string, value: string | number): StoredMessage[] =>
  sql(question)
    .all(value)
    .map((row) => messageOf(sql, row))
    .filter(({ seq }) => !isForgottenFor(sql, seq));

const isForgottenFor = (sql: Sql, seq: number): boolean =>
  sql("SELECT 1 FROM forgotten WHERE message = ? AND expired = 0").get(seq) !== undefined;

/** A stretch of a conversation, and texts that were made of its messages. */
export interface Derived {
  readonly conversation: number;
  /** Numbers of the first and the last message that the texts may tell of. */
  readonly first: number;
  readonly last: number;
  readonly texts: readonly string[];
}

/**
 * Summaries, records and ledgers of conversations of which something is no longer kept: they may
 * quote what no message says any more.
 */
export const derivedOfExpired = (store: Store): Derived[] =>
  store.read((sql) => {
    const conversations = sql(`
      SELECT DISTINCT conversation FROM forgotten JOIN message ON seq = message WHERE expired = 1
    `).all();
    return conversations.flatMap(({ conversation }) => {
      const of = Number(conversation);
      const leaves = sql("SELECT * FROM summary WHERE conversation = ?").all(of);
      const cuts = sql("SELECT record, ledger FROM cut WHERE conversation = ?").all(of);
      return [
        ...leaves.map(({ first, last, days, words }) => ({
          ...{ conversation: of, first: Number(first), last: Number(last) },
          texts: [String(days), String(words ?? "")],
        })),
        ...cuts.map(({ record, ledger }) => ({
          ...{ conversation: of, first: 0, last: Number.MAX_SAFE_INTEGER },
          texts: [String(record), ledgerIn(ledger) ?? ""],
        })),
      ];
    });
  });

/** What of a stretch is no longer kept. */
export const expiredWithin = (store: Store, { conversation, first, last }: Derived) =>
  store.read((sql) =>
    sql(`
      SELECT message.* FROM message JOIN forgotten ON forgotten.message = seq AND expired = 1
      WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq
    `)
      .all(conversation, first, last)
      .map((row) => messageOf(sql, row)),
  );

/** What the host wrote behind a message to stand for it and others, and is still kept. */
export const summariesBehind = (
  store: Store,
  { conversation, seq }: Pick<StoredMessage, "conversation" | "seq">,
): StoredMessage[] =>
  store.read((sql) =>
    sql(`
      SELECT * FROM message WHERE conversation = ? AND seq > ?
        AND role IN ('compactionSummary', 'branchSummary') ORDER BY seq
    `)
      .all(conversation, seq)
      .map((row) => messageOf(sql, row))
      .filter((stored) => isSummary(stored.message) && !isForgottenFor(sql, stored.seq)),
  );

/** How far a call and its results stand apart, at most. */
const MOST_BETWEEN = 256;

/** A call's results; a result's call, with all of its results. Not the message itself. */
export const pairOf = (store: Store, stored: StoredMessage): StoredMessage[] =>
  store.read((sql) => {
    const call = stored.message.role === "toolResult" ? callOf(sql, stored) : stored;
    if (call === undefined) return [];
    const ids = new Set(callIds(call.message));
    if (ids.size === 0) return [];
    const results: StoredMessage[] = [];
    const behind = sql(`
      SELECT * FROM message WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?
    `).all(call.conversation, call.seq, MOST_BETWEEN);
    for (const row of behind) {
      const next = messageOf(sql, row);
      // Models that count their calls anew repeat ids.
      if (callIds(next.message).some((id) => ids.has(id))) break;
      if (next.message.role === "toolResult" && ids.has(next.message.toolCallId))
        results.push(next);
    }
    return [call, ...results].filter(({ seq }) => seq !== stored.seq && !isForgottenFor(sql, seq));
  });

function callOf(
  sql: Sql,
  { conversation, seq, message }: StoredMessage,
): StoredMessage | undefined {
  if (message.role !== "toolResult") return undefined;
  const before = sql(`
    SELECT * FROM message WHERE conversation = ? AND seq < ? ORDER BY seq DESC LIMIT ?
  `).all(conversation, seq, MOST_BETWEEN);
  return before
    .map((row) => messageOf(sql, row))
    .find((each) => callIds(each.message).includes(message.toolCallId));
}

/** Ids of the tool calls that a message makes. */
export const callIds = (message: AgentMessage): string[] =>
  message.role === "assistant"
    ? blocksOf(message.content).flatMap((block) =>
        block.type === "toolCall" ? [String(block.id)] : [],
      )
    : [];
