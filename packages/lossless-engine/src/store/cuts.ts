// Keeps where records stand, what they say, and from what they can be carried on.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { NamedMessage } from "../messages/name.ts";
import { thinned } from "../messages/own.ts";
import type { Part, Parts } from "../messages/shorten.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { makePlace, placeOf } from "./conversations.ts";
import { markStale } from "./forgetting.ts";
import { sealing } from "./seals.ts";
import type { Sql, Store } from "./store.ts";

/** A cut as it is found again; tokens as they were counted when it was made. */
export interface StoredCut {
  readonly id: number;
  /** Tells its record from every other of the conversation. */
  readonly name: string;
  /** Name of the first message behind the record. */
  readonly first: string;
  /** Name of the request that is shown behind the record, before `first`; null = none is. */
  readonly request: string | null;
  /** Infinity: it holds under every budget. */
  readonly ceiling: number;
  /** Of record and request. */
  readonly tokens: { readonly estimate: number; readonly high: number };
  /** When the last message was made that the record stands for, ms; null = not known. */
  readonly time: number | null;
  /** How many messages it stands for. */
  readonly covered: number;
  /** What is shown of messages behind it that had no room as they are. */
  readonly parts: Parts;
  /** Id of the newest cut at its place, which has what is known. Absent: it is the newest. */
  readonly newestHere?: number;
  /** Its record as the host handed it back, without what it stands for. Absent: it did not. */
  readonly handedBack?: string;
}

/** A cut to keep. */
export interface NewStoredCut extends Omit<StoredCut, "id" | "newestHere" | "handedBack"> {
  readonly record: string;
  /** What is known of the messages it stands for, as JSON. */
  readonly ledger: string;
}

/** Older cuts are met again only where a session went back; these many can. */
const MOST_CUTS = 64;
/** A state takes up to 2 MB, and a tenth of that as it is kept. */
const MOST_LEDGERS = 1;

/** Of the transcript's conversation, newest first. */
export function cutsOf(store: Store, session: OwnedSession): StoredCut[] {
  return store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return [];
    return sql(`
      SELECT id, name, first, request, ceiling, estimate, high, time, covered, parts FROM cut
      WHERE conversation = ? ORDER BY id DESC
    `)
      .all(place.conversation)
      .map((row) => ({
        id: Number(row.id),
        name: String(row.name),
        first: String(row.first),
        request: row.request === null ? null : String(row.request),
        ceiling: row.ceiling === null ? Infinity : Number(row.ceiling),
        tokens: { estimate: Number(row.estimate), high: Number(row.high) },
        time: row.time === null ? null : Number(row.time),
        covered: Number(row.covered),
        parts: new Map(JSON.parse(String(row.parts ?? "[]")) as [string, Part][]),
      }));
  });
}

/** What a cut's record says, also where the cut was asked for, and stored anew, meanwhile. */
export const recordOf = (store: Store, { id, name }: Pick<StoredCut, "id" | "name">): string =>
  store.read((sql) => {
    const row =
      sql("SELECT record FROM cut WHERE id = ?").get(id) ??
      sql("SELECT record FROM cut WHERE name = ?").get(name);
    return String(row?.record ?? "");
  });

/** All records, with what was known then. */
export const recordsIn = (store: Store): { readonly id: number; readonly texts: string[] }[] =>
  store.read((sql) =>
    sql("SELECT id, record, ledger FROM cut ORDER BY id")
      .all()
      .map(({ id, record, ledger }) => ({
        ...{ id: Number(id), texts: [String(record), ledgerIn(ledger) ?? ""] },
      })),
  );

/** Views that need them make them again. */
export function dropCuts(sql: Sql, ids: readonly number[]): void {
  sql("DELETE FROM cut WHERE id IN (SELECT value FROM json_each(?))").run(JSON.stringify(ids));
}

/** The records of a conversation of which something goes. */
export function thinRecords(sql: Sql, conversation: number): void {
  const changed = sql("SELECT id, record FROM cut WHERE conversation = ?")
    .all(conversation)
    .map(({ id, record }) => ({ id: Number(id), record: String(record) }))
    .filter(({ record }) => thinned(record) !== record);
  if (changed.length === 0) return;
  const all = { table: "cut", where: "conversation = ?", values: [conversation] } as const;
  sealing(sql, all, () => {
    for (const { id, record } of changed)
      sql("UPDATE cut SET record = ? WHERE id = ?").run(thinned(record), id);
  });
}

/** True: something of the session's conversation was forgotten, or is no longer kept. */
export const hasLetGo = (store: Store, session: OwnedSession): boolean =>
  store.read((sql) => {
    const place = placeOf(sql, session);
    const gone = "SELECT 1 FROM forgotten JOIN message ON seq = message WHERE conversation = ?";
    return place !== undefined && sql(`${gone} LIMIT 1`).get(place.conversation) !== undefined;
  });

/** What was known at a cut, as JSON; undefined when it was let go. */
export function ledgerOf(store: Store, id: number): string | undefined {
  return ledgerIn(store.read((sql) => sql("SELECT ledger FROM cut WHERE id = ?").get(id)?.ledger));
}

/** What a column of ledgers holds, as JSON; undefined = nothing, or nothing that can be read. */
export function ledgerIn(column: unknown): string | undefined {
  if (!(column instanceof Uint8Array)) return undefined;
  try {
    return zstdDecompressSync(column).toString("utf8");
  } catch {
    return undefined;
  }
}

/**
 * A cut that is there already, made again, only holds for longer. Where it is asked for it is the
 * newest then, so that none counts in its place that was made in need before. `messages` are some
 * of the transcript, by which a successor is known.
 */
export function storeCut(
  store: Store,
  {
    session,
    messages,
    cut,
  }: { session: OwnedSession; messages: readonly NamedMessage[]; cut: NewStoredCut },
): void {
  store.change((sql) => {
    const { conversation } = makePlace(sql, session, messages);
    const all = { table: "cut", where: "conversation = ?", values: [conversation] } as const;
    sealing(sql, all, () => insertCut(sql, conversation, cut));
  });
}

function insertCut(sql: Sql, conversation: number, cut: NewStoredCut): void {
  if (cut.ceiling === Infinity)
    sql("DELETE FROM cut WHERE conversation = ? AND name = ?").run(conversation, cut.name);
  sql(`
      INSERT INTO cut
        (conversation, name, first, request, ceiling, estimate, high, time, covered, parts, record,
          ledger)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (conversation, name) DO UPDATE SET ceiling = excluded.ceiling
        WHERE ceiling IS NOT NULL AND excluded.ceiling > ceiling
    `).run(
    ...[conversation, cut.name, cut.first, cut.request],
    ...[cut.ceiling === Infinity ? null : cut.ceiling, cut.tokens.estimate, cut.tokens.high],
    ...[cut.time, cut.covered, cut.parts.size === 0 ? null : JSON.stringify([...cut.parts])],
    ...[cut.record, zstdCompressSync(cut.ledger)],
  );
  const older = "SELECT id FROM cut WHERE conversation = ? ORDER BY id DESC LIMIT -1 OFFSET ?";
  const gone = sql(`DELETE FROM cut WHERE id IN (${older})`).run(conversation, MOST_CUTS);
  const emptied = sql(
    `UPDATE cut SET ledger = NULL WHERE ledger IS NOT NULL AND id IN (${older})`,
  ).run(conversation, MOST_LEDGERS);
  // Its pages may quote what is no longer kept, when nothing else tells of it any more.
  if (Number(gone.changes) + Number(emptied.changes) > 0 && isAnyExpired(sql)) markStale(sql, true);
}

const isAnyExpired = (sql: Sql): boolean =>
  sql("SELECT 1 FROM forgotten WHERE expired = 1 LIMIT 1").get() !== undefined;
