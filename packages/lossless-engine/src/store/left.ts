// Marks what was said on branches that a session has left, and takes the mark off again.

import type { OwnedSession } from "../sessions/owner.ts";
import { placeOf } from "./conversations.ts";
import { FLAGS } from "./rows.ts";
import type { Sql, Store } from "./store.ts";

/** The active branch, as far as it matters here. */
export interface BranchEnd {
  readonly session: OwnedSession;
  /** Ids of its last messages, up to the newest one that is stored. */
  readonly names: readonly string[];
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
    const later = sql(
      `SELECT 1 FROM message WHERE conversation = ? AND seq > ? AND flags & ${FLAGS.left} = 0 LIMIT 1`,
    ).get(newest.conversation, newest.seq);
    return later === undefined && leftBetween(sql, rows).length === 0 ? "none" : "left";
  });

/** Every message of the conversation that came after the branch's end, or on another's. */
export const markLeft = (store: Store, end: BranchEnd): void =>
  store.change((sql) => {
    const rows = rowsOf(sql, end);
    const newest = rows.at(-1);
    if (newest === undefined) return;
    sql(`
      UPDATE message SET flags = flags | ${FLAGS.left} WHERE conversation = ? AND seq > ?
    `).run(newest.conversation, newest.seq);
    for (const seq of leftBetween(sql, rows))
      sql(`UPDATE message SET flags = flags | ${FLAGS.left} WHERE seq = ?`).run(seq);
  });

/** Takes the mark off these; true: one of them had it. */
export const markJoined = (
  store: Store,
  { session, names }: { session: OwnedSession; names: readonly string[] },
): boolean =>
  store.change((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return false;
    const changes = names.map(
      (name) =>
        sql(`
          UPDATE message SET flags = flags & ~${FLAGS.left}
          WHERE conversation = ? AND id = ? AND flags & ${FLAGS.left} != 0
        `).run(place.conversation, name).changes,
    );
    return changes.some((count) => Number(count) > 0);
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

/**
 * What came between the last two of a branch, where somebody asked for something there: a host
 * that tells a request before it shows it left that branch. Replies alone may be out of sight.
 */
function leftBetween(sql: Sql, rows: readonly EndRow[]): number[] {
  const [before, newest] = rows.slice(-2);
  if (before === undefined || newest === undefined || newest.seq - before.seq < 2) return [];
  const shown = new Set(rows.map(({ seq }) => seq));
  const between = sql(`
    SELECT seq, role FROM message WHERE conversation = ? AND seq > ? AND seq < ?
      AND flags & ${FLAGS.left | FLAGS.heartbeat} = 0
  `)
    .all(newest.conversation, before.seq, newest.seq)
    .filter(({ seq }) => !shown.has(Number(seq)));
  return between.some(({ role }) => role === "user") ? between.map(({ seq }) => Number(seq)) : [];
}
