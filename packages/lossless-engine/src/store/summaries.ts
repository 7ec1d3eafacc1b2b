// Keeps the summaries of each conversation, and which of them make up its frontier.

import type { OwnedSession } from "../sessions/owner.ts";
import { placeOf } from "./conversations.ts";
import { nextNumber } from "./numbers.ts";
import type { Scope } from "./recall.ts";
import { messageOf, type StoredMessage } from "./rows.ts";
import type { Sql, Store } from "./store.ts";
import {
  type FactsReader,
  frontierHash,
  frontierRows,
  hashIn,
  numberOrNull,
  partRows,
  type StoredSummary,
  type SummaryRow,
  summaryHash,
  summaryOf,
} from "./summary-rows.ts";

/** How far the summaries of a conversation are. */
export interface Coverage {
  readonly conversation: number;
  /** The frontier: what stands for everything up to its end, each message once, oldest first. */
  readonly frontier: readonly StoredSummary[];
  /** Number of the last message that it stands for; 0 = there are no summaries. */
  readonly upTo: number;
}

/** Undefined: nothing of the session is stored. */
export const coverageOf = (store: Store, session: OwnedSession): Coverage | undefined =>
  store.read((sql) => {
    const place = placeOf(sql, session);
    return place && coverageIn(sql, place.conversation);
  });

export const coverageOfConversation = (store: Store, conversation: number): Coverage =>
  store.read((sql) => coverageIn(sql, conversation));

function coverageIn(sql: Sql, conversation: number): Coverage {
  const frontier = frontierRows(sql, conversation).map(summaryOf);
  return { conversation, frontier, upTo: upToOf(sql, conversation) };
}

const upToOf = (sql: Sql, conversation: number) =>
  Number(sql("SELECT up_to FROM graph WHERE conversation = ?").get(conversation)?.up_to ?? 0);

/** A leaf to add to a frontier. */
export interface NewLeaf {
  readonly conversation: number;
  /** Where the frontier ends, as far as is known. */
  readonly after: number;
  /** Number of the last message. */
  readonly last: number;
  readonly reader: FactsReader;
  /** When it is made, ms. */
  readonly created: number;
}

/** False, and nothing is stored: the frontier ends somewhere else by now, or there is nothing. */
export const storeLeaf = (store: Store, leaf: NewLeaf): boolean =>
  store.change((sql) => {
    const { conversation, after, last, reader, created } = leaf;
    if (upToOf(sql, conversation) !== after) return false;
    const messages = messagesIn(sql, { conversation, first: after + 1, last });
    if (messages.at(-1)?.seq !== last) return false;
    const facts = reader.ofMessages(messages);
    insert(sql, { conversation, depth: 0, first: messages[0]!.seq, last, facts, created }, []);
    close(sql, conversation, last);
    return true;
  });

const messagesIn = (
  sql: Sql,
  { conversation, first, last }: Pick<StoredSummary, "conversation" | "first" | "last">,
) =>
  sql("SELECT * FROM message WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq")
    .all(conversation, first, last)
    .map((row) => messageOf(sql, row));

/** Summaries of a frontier to make one of. */
export interface NewCondensed {
  readonly conversation: number;
  /** Neighbours on the frontier, oldest first. */
  readonly parts: readonly StoredSummary[];
  readonly reader: FactsReader;
  /** When it is made, ms. */
  readonly created: number;
}

/** False, and nothing is stored: they are not neighbours of one depth on the frontier now. */
export const storeCondensed = (store: Store, condensed: NewCondensed): boolean =>
  store.change((sql) => {
    const { conversation, reader, created } = condensed;
    const frontier = frontierRows(sql, conversation).map(summaryOf);
    const from = frontier.findIndex(({ id }) => id === condensed.parts[0]?.id);
    const parts = frontier.slice(Math.max(0, from), from + condensed.parts.length);
    const [first, last] = [parts[0], parts.at(-1)];
    const isThere =
      first !== undefined &&
      last !== undefined &&
      condensed.parts.every((part, at) => part.id === parts[at]?.id && part.depth === first.depth);
    if (!isThere) return false;
    const facts = reader.ofParts(parts.map((part) => part.facts));
    const span = { depth: first.depth + 1, first: first.first, last: last.last };
    insert(sql, { conversation, ...span, facts, created }, parts);
    close(sql, conversation, upToOf(sql, conversation));
    return true;
  });

function insert(
  sql: Sql,
  of: Pick<StoredSummary, "conversation" | "depth" | "first" | "last" | "facts" | "created">,
  parts: readonly StoredSummary[],
): void {
  const { conversation, depth, first, last, facts, created } = of;
  const { messages, tokens, since, until, days } = facts;
  const { lastInsertRowid } = sql(`
    INSERT INTO summary
      (id, conversation, depth, first, last, messages, tokens, since, until, days, created, hash)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, x'')
  `).run(
    ...[
      nextNumber(sql, "summary"),
      conversation,
      depth,
      first,
      last,
      messages,
      tokens,
      since,
      until,
    ],
    ...[JSON.stringify(days), created],
  );
  const adopt = sql("UPDATE summary SET parent = ? WHERE id = ?");
  for (const { id } of parts) adopt.run(lastInsertRowid, id);
  bind(sql, Number(lastInsertRowid));
}

/** What a summary says now is what is right. */
export function bind(sql: Sql, id: number): void {
  const row = sql("SELECT * FROM summary WHERE id = ?").get(id)!;
  const parts = partRows(sql, id).map((part) => hashIn(part));
  sql("UPDATE summary SET hash = ? WHERE id = ?").run(summaryHash(row, parts), id);
}

/** What the frontier is now is what is right. */
export function close(sql: Sql, conversation: number, upTo: number): void {
  const hashes = frontierRows(sql, conversation).map((row) => hashIn(row));
  sql(`
    INSERT INTO graph (conversation, up_to, hash) VALUES (?1, ?2, ?3)
    ON CONFLICT (conversation) DO UPDATE SET up_to = ?2, hash = ?3
  `).run(conversation, upTo, frontierHash(hashes));
  sql("UPDATE conversation SET summarised = ? WHERE id = ?").run(upTo, conversation);
}

/** Binds a changed summary, and all that it is a part of. */
function bindUpwards(sql: Sql, id: number): void {
  for (let at: number | null = id; at !== null; at = parentOf(sql, at)) bind(sql, at);
  const { conversation } = sql("SELECT conversation FROM summary WHERE id = ?").get(id)!;
  close(sql, Number(conversation), upToOf(sql, Number(conversation)));
}

function parentOf(sql: Sql, id: number): number | null {
  const parent = sql("SELECT parent FROM summary WHERE id = ?").get(id)?.parent;
  return parent == null ? null : Number(parent);
}

/** Summaries whose words a model wrote. */
export const worded = (store: Store): { readonly id: number; readonly words: string }[] =>
  store.read((sql) =>
    sql("SELECT id, words FROM summary WHERE words IS NOT NULL ORDER BY id")
      .all()
      .map(({ id, words }) => ({ id: Number(id), words: String(words) })),
  );

/** What tells summaries from each other in all copies of a database. */
const spanOf = ({ id, conversation, depth, first, last }: SummaryRow): string =>
  JSON.stringify([id, conversation, depth, first, last]);

/** What a model said of summaries. Null: one was asked, and its words are no use, or dropped. */
export const wordsBySpan = (sql: Sql): ReadonlyMap<string, string | null> =>
  new Map(
    sql("SELECT * FROM summary WHERE asked > 0")
      .all()
      .map((row) => [spanOf(row), row.words === null ? null : String(row.words)]),
  );

/** Numbers of those of them of which a model says something else here. */
export const summariesOtherwise = (sql: Sql, known: ReadonlyMap<string, string | null>): number[] =>
  sql("SELECT * FROM summary WHERE words IS NOT NULL")
    .all()
    .filter((row) => known.has(spanOf(row)) && known.get(spanOf(row)) !== row.words)
    .map(({ id }) => Number(id));

/** They go without, for good; so do the records that may quote them. */
export function dropWords(sql: Sql, ids: readonly number[]): void {
  for (const id of ids) {
    const row = sql("SELECT conversation FROM summary WHERE id = ? AND words IS NOT NULL").get(id);
    if (row === undefined) continue;
    sql("UPDATE summary SET words = NULL, model = NULL, asked = asked + 1 WHERE id = ?").run(id);
    bindUpwards(sql, id);
    sql("DELETE FROM cut WHERE conversation = ?").run(Number(row.conversation));
  }
}

/** What came of asking a model for a summary's words. */
export interface Asked {
  /** Null: nothing that is of use. */
  readonly words: string | null;
  readonly model: string;
}

/** False, and nothing is stored: the summary says or stands for something else by now. */
export const storeWords = (
  store: Store,
  { id, hash }: StoredSummary,
  { words, model }: Asked,
): boolean =>
  store.change((sql) => {
    const row = sql("SELECT * FROM summary WHERE id = ?").get(id);
    if (row === undefined || summaryOf(row).hash !== hash) return false;
    sql("UPDATE summary SET asked = asked + 1 WHERE id = ?").run(id);
    if (words === null) return true;
    sql("UPDATE summary SET words = ?, model = ? WHERE id = ?").run(words, model, id);
    bindUpwards(sql, id);
    return true;
  });

/** Of a frontier those that no model was asked about, the finest and newest first. */
export const summariesWithoutWords = (
  store: Store,
  { conversation, limit }: { conversation: number; limit: number },
): StoredSummary[] =>
  store.read((sql) =>
    sql(`
      SELECT * FROM summary WHERE conversation = ? AND parent IS NULL AND words IS NULL AND asked = 0
      ORDER BY depth, first DESC LIMIT ?
    `)
      .all(conversation, limit)
      .map(summaryOf),
  );

/** Of a scope; undefined = there is none of this id there. */
export const summaryById = (store: Store, scope: Scope, id: number): StoredSummary | undefined =>
  store.read((sql) => {
    const row = sql("SELECT * FROM summary WHERE id = ?").get(id);
    const isIn = row && (scope === null || scope.includes(Number(row.conversation)));
    return isIn === true ? summaryOf(row!) : undefined;
  });

/** What a summary stands for, where that is summaries; oldest first. */
export const partsOfSummary = (store: Store, id: number): StoredSummary[] =>
  store.read((sql) => partRows(sql, id).map(summaryOf));

/** Leaves of a scope in which something was said from `since` on and before `before`, ms. */
export const leavesBetween = (
  store: Store,
  { scope, since, before, limit }: { scope: Scope; since: number; before: number; limit: number },
): StoredSummary[] =>
  store.read((sql) =>
    sql(`
      SELECT * FROM summary WHERE depth = 0 AND until >= ? AND since < ?
        ${scope === null ? "" : "AND conversation IN (SELECT value FROM json_each(?))"}
      ORDER BY since, first LIMIT ?
    `)
      .all(since, before, ...(scope === null ? [] : [JSON.stringify(scope)]), limit)
      .map(summaryOf),
  );

/** Messages of a conversation from number `first` on, before number `end`. */
export interface Apart {
  readonly conversation: number;
  readonly first: number;
  readonly end: number;
}

/** In the order in which they came. */
export const messagesApart = (store: Store, { conversation, first, end }: Apart): StoredMessage[] =>
  store.read((sql) => messagesIn(sql, { conversation, first, last: end - 1 }));

/** Numbers of the first of each `size` of them, in order. */
export const startsOfPieces = (
  store: Store,
  { conversation, first, end, size }: Apart & { size: number },
): number[] =>
  store.read((sql) =>
    sql(`
      SELECT seq FROM (
        SELECT seq, row_number() OVER (ORDER BY seq) - 1 AS place FROM message
        WHERE conversation = ? AND seq >= ? AND seq < ?
      ) WHERE place % ? = 0 ORDER BY seq
    `)
      .all(conversation, first, end, size)
      .map(({ seq }) => Number(seq)),
  );

/** Those of people, in order; of more than `limit` some from beginning to end, and how many. */
export const requestsApart = (
  store: Store,
  { conversation, first, end, limit }: Apart & { limit: number },
): { readonly messages: StoredMessage[]; readonly count: number } =>
  store.read((sql) => {
    const seqs = sql(`
      SELECT seq FROM message WHERE conversation = ? AND seq >= ? AND seq < ? AND role = 'user'
      ORDER BY seq
    `)
      .all(conversation, first, end)
      .map(({ seq }) => Number(seq));
    const each = Math.max(1, Math.ceil(seqs.length / limit));
    const row = sql("SELECT * FROM message WHERE seq = ?");
    const messages = seqs
      .filter((_, at) => at % each === 0)
      .flatMap((seq) => row.all(seq).map((found) => messageOf(sql, found)));
    return { messages, count: seqs.length };
  });

/** Where they begin and end, and how many they are; undefined = there are none. */
export const spanOfMessages = (
  store: Store,
  { conversation, first, end }: Apart,
): Pick<StoredSummary, "first" | "last" | "facts"> | undefined =>
  store.read((sql) => {
    const row = sql(`
      SELECT min(seq) AS first, max(seq) AS last, count(*) AS messages, min(time) AS since,
        max(time) AS until FROM message WHERE conversation = ? AND seq >= ? AND seq < ?
    `).get(conversation, first, end)!;
    if (Number(row.messages) === 0) return undefined;
    const time = { since: numberOrNull(row.since), until: numberOrNull(row.until) };
    const facts = { messages: Number(row.messages), tokens: 0, ...time, days: [] };
    return { first: Number(row.first), last: Number(row.last), facts };
  });

/**
 * Every summary that stands for one of the messages, leaves first. `sql`: whoever removes what a
 * message says does it in the same change.
 */
export function summariesOver(sql: Sql, seqs: readonly number[]): number[] {
  const found = new Set<number>();
  const leaf = sql(`
    SELECT summary.id AS id FROM message JOIN summary ON summary.conversation = message.conversation
    WHERE message.seq = ? AND depth = 0 AND first <= ?1 AND last >= ?1
  `);
  let level = seqs.flatMap((seq) => leaf.all(seq).map(({ id }) => Number(id)));
  while (level.length > 0) {
    for (const id of level) found.add(id);
    level = level.flatMap((id) => parentOf(sql, id) ?? []);
  }
  return [...found];
}

/**
 * Makes every summary that stands for one of the messages anew from what those say now, without a
 * model's words; the frontier stays. For changes that take something out of messages.
 */
export function summariseAgain(sql: Sql, seqs: readonly number[], reader: FactsReader): void {
  for (const id of summariesOver(sql, seqs)) {
    const old = summaryOf(sql("SELECT * FROM summary WHERE id = ?").get(id)!);
    const facts =
      old.depth === 0
        ? reader.ofMessages(messagesIn(sql, old))
        : reader.ofParts(partRows(sql, id).map((row) => summaryOf(row).facts));
    const { messages, tokens, since, until, days } = facts;
    sql(`
      UPDATE summary SET messages = ?, tokens = ?, since = ?, until = ?, days = ?, words = NULL,
        model = NULL WHERE id = ?
    `).run(...[messages, tokens, since, until, JSON.stringify(days), id]);
    bindUpwards(sql, id);
  }
}
