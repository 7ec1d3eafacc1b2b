// Marks what was said on branches that a session has left, and takes the mark off again.

import type { AgentMessage } from "@clew/plugin-sdk/core";
import { textOf } from "@clew/plugin-sdk/transcript";
import type { OwnedSession } from "../sessions/owner.ts";
import { changing } from "./chain.ts";
import { placeOf } from "./conversations.ts";
import { FLAGS, messageOf } from "./rows.ts";
import type { Sql, Store } from "./store.ts";
import { summariseAgain } from "./summaries.ts";
import type { FactsReader } from "./summary-rows.ts";

/** The active branch, as far as it matters here. */
export interface BranchEnd {
  readonly session: OwnedSession;
  /** Ids of its last messages, up to the newest one that is stored. */
  readonly names: readonly string[];
  /** What people say in them, without the white space: some hosts make one of two requests. */
  readonly asked: string;
}

/** What the active branch's end says of what is stored. */
export type BranchChange =
  /** Nothing. */
  | "none"
  /** Messages came after its end, or before its newest one, on a branch that was left. */
  | "left"
  /** A part of it was on a branch that was left: the session came back to it. */
  | "rejoined";

export const branchChange = (store: Store, end: BranchEnd): BranchChange =>
  store.read((sql) => {
    const rows = rowsOf(sql, end);
    const newest = rows.at(-1);
    if (newest === undefined) return "none";
    if (rows.some(({ flags }) => (flags & FLAGS.left) !== 0)) return "rejoined";
    const isLeft = leftBehind(sql, newest, end).length + leftBetween(sql, rows, end).length > 0;
    return isLeft ? "left" : "none";
  });

/** Every message of the conversation that came after the branch's end, or on another's. */
export const markLeft = (store: Store, end: BranchEnd, reader: FactsReader): void =>
  store.change((sql) => {
    const rows = rowsOf(sql, end);
    const newest = rows.at(-1);
    if (newest === undefined) return;
    const left = [...leftBehind(sql, newest, end), ...leftBetween(sql, rows, end)];
    setLeft(sql, left, { isLeft: true, reader });
  });

/** What summaries say of these messages goes and comes with the mark, in the same change. */
function setLeft(
  sql: Sql,
  seqs: readonly number[],
  { isLeft, reader }: { isLeft: boolean; reader: FactsReader },
): void {
  const flags = isLeft ? `flags | ${FLAGS.left}` : `flags & ~${FLAGS.left}`;
  const mark = sql(`UPDATE message SET flags = ${flags} WHERE seq = ?`);
  for (const seq of seqs) changing(sql, seq, () => mark.run(seq));
  summariseAgain(sql, seqs, reader);
}

/** Marks these, as their file says that they were left. */
export const markNamedLeft = (
  store: Store,
  { session, names }: { session: OwnedSession; names: readonly string[] },
  reader: FactsReader,
): void =>
  store.change((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return;
    const find = sql(`
      SELECT seq FROM message WHERE conversation = ? AND id = ? AND flags & ${FLAGS.left} = 0
    `);
    const left = names.flatMap((name) => {
      const row = find.get(place.conversation, name);
      return row === undefined ? [] : [Number(row.seq)];
    });
    setLeft(sql, left, { isLeft: true, reader });
  });

/** Takes the mark off these; true: one of them had it. */
export const markJoined = (
  store: Store,
  { session, names }: { session: OwnedSession; names: readonly string[] },
  reader: FactsReader,
): boolean =>
  store.change((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return false;
    const joined = names.flatMap((name) => {
      const row = sql(`
        SELECT seq FROM message WHERE conversation = ? AND id = ? AND flags & ${FLAGS.left} != 0
      `).get(place.conversation, name);
      return row === undefined ? [] : [Number(row.seq)];
    });
    setLeft(sql, joined, { isLeft: false, reader });
    return joined.length > 0;
  });

/** A stored message of a branch's end. */
interface EndRow {
  readonly conversation: number;
  readonly seq: number;
  readonly flags: number;
}

/** In the order of the branch, those that are stored. */
function rowsOf(sql: Sql, { session, names }: BranchEnd): EndRow[] {
  const place = placeOf(sql, session);
  if (place === undefined) return [];
  const { conversation } = place;
  const find = sql("SELECT seq, flags FROM message WHERE conversation = ? AND id = ?");
  return names.flatMap((name) => {
    const row = find.get(conversation, name);
    return row === undefined
      ? []
      : [{ conversation, seq: Number(row.seq), flags: Number(row.flags) }];
  });
}

/** Messages that came after the branch's newest one. */
const leftBehind = (sql: Sql, { conversation, seq }: EndRow, end: BranchEnd): number[] =>
  notShown(
    sql(`
      SELECT * FROM message WHERE conversation = ? AND seq > ? AND flags & ${FLAGS.left} = 0
    `).all(conversation, seq),
    { sql, end },
  ).map((row) => Number(row.seq));

/** Without the requests that stand in another message of the branch's end. */
function notShown<Row extends Record<string, unknown>>(
  rows: readonly Row[],
  { sql, end }: { sql: Sql; end: BranchEnd },
): Row[] {
  return rows.filter(
    (row) =>
      row.role !== "user" || !end.asked.includes(withoutSpace(textOf(messageOf(sql, row).message))),
  );
}

const withoutSpace = (text: string) => text.replaceAll(/\s+/g, "");

/** Pure. What people say in these messages, as `BranchEnd` has it. */
export const askedIn = (messages: readonly AgentMessage[]): string =>
  withoutSpace(
    messages
      .filter(({ role }) => role === "user")
      .map(textOf)
      .join("\n"),
  );

/**
 * What came between the last two of a branch, where somebody asked for something there: a host
 * that tells a request before it shows it left that branch. Replies alone may be out of sight.
 */
function leftBetween(sql: Sql, rows: readonly EndRow[], end: BranchEnd): number[] {
  const [before, newest] = rows.slice(-2);
  if (before === undefined || newest === undefined || newest.seq - before.seq < 2) return [];
  const shown = new Set(rows.map(({ seq }) => seq));
  const between = sql(`
    SELECT * FROM message WHERE conversation = ? AND seq > ? AND seq < ?
      AND flags & ${FLAGS.left | FLAGS.heartbeat} = 0
  `)
    .all(newest.conversation, before.seq, newest.seq)
    .filter(({ seq }) => !shown.has(Number(seq)));
  const left = notShown(between, { sql, end });
  return left.some(({ role }) => role === "user") ? left.map(({ seq }) => Number(seq)) : [];
}
