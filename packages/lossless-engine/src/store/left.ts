// Marks what was said on branches that a session has left, and takes the mark off again.

import type { OwnedSession } from "../sessions/owner.ts";
import { placeOf } from "./conversations.ts";
import { FLAGS } from "./rows.ts";
import type { Sql, Store } from "./store.ts";

/** The active branch, as far as it matters here. */
export interface BranchEnd {
  readonly session: OwnedSession;
  /** The newest message of the branch that is stored. */
  readonly newest: string;
}

/** What the active branch's end says of what is stored. */
export type BranchChange =
  /** Nothing. */
  | "none"
  /** Messages came after its end, on a branch that was left. */
  | "left"
  /** Its end was on a branch that was left: the session came back to it. */
  | "rejoined";

export const branchChange = (store: Store, end: BranchEnd): BranchChange =>
  store.read((sql) => {
    const row = rowOf(sql, end);
    if (row === undefined) return "none";
    if ((row.flags & FLAGS.left) !== 0) return "rejoined";
    const later = sql(
      `SELECT 1 FROM message WHERE conversation = ? AND seq > ? AND flags & ${FLAGS.left} = 0 LIMIT 1`,
    ).get(row.conversation, row.seq);
    return later === undefined ? "none" : "left";
  });

/** Every message of the conversation that came after the branch's end. */
export const markLeft = (store: Store, end: BranchEnd): void =>
  store.change((sql) => {
    const row = rowOf(sql, end);
    if (row !== undefined)
      sql(`
        UPDATE message SET flags = flags | ${FLAGS.left} WHERE conversation = ? AND seq > ?
      `).run(row.conversation, row.seq);
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

function rowOf(sql: Sql, { session, newest }: BranchEnd) {
  const place = placeOf(sql, session);
  if (place === undefined) return undefined;
  const { conversation } = place;
  const row = sql("SELECT seq, flags FROM message WHERE conversation = ? AND id = ?").get(
    ...[conversation, newest],
  );
  return row && { conversation, seq: Number(row.seq), flags: Number(row.flags) };
}
