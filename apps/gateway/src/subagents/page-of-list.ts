// Which part of a long list of sessions one page of it holds.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { shortName } from "../sessions/keys.ts";
import { type ListPlace, newestFirst } from "../sessions/list-sessions.ts";
import type { Placed } from "./session-tree.ts";

export interface ListPage {
  /** Sessions that nobody started; those that they started come with them. */
  limit: number;
  /** `next` of the page before. Absent: from the beginning. */
  after?: string | undefined;
  /**
   * Only sessions with this in their keys, names, titles or first words, or in those of sessions
   * they started. Absent: all.
   */
  find?: string | undefined;
}

/** By what a session is found. */
export interface Findable {
  key: string;
  label?: string | undefined;
  client?: string | undefined;
  title?: string | undefined;
  firstWords?: string | undefined;
}

/**
 * Pure. `rows` as `inTree` gives them. `next`: null = this is the last page. Throws REQUEST_INVALID
 * for an `after` that no page gave.
 */
export function pageOfList<Row extends ListPlace & Placed & Findable>(
  rows: readonly Row[],
  { limit, after, find = "" }: ListPage,
): { sessions: Row[]; next: string | null } {
  const place = after === undefined ? undefined : readPlace(after);
  const isBehind = (row: Row) => place === undefined || newestFirst(place, row) < 0;
  const sessions: Row[] = [];
  let last: Row | undefined;
  let taken = 0;
  for (let at = 0; at < rows.length; ) {
    const first = rows[at]!;
    let end = at + 1;
    while (end < rows.length && rows[end]!.depth > 0) end++;
    const family = rows.slice(at, end);
    at = end;
    if (!isBehind(first) || !family.some((row) => isFoundBy(row, find))) continue;
    if (taken === limit) return { sessions, next: placeOf(last!) };
    sessions.push(...family);
    last = first;
    taken++;
  }
  return { sessions, next: null };
}

/** Pure. In any case. */
export function isFoundBy(row: Findable, find = ""): boolean {
  const wanted = find.toLowerCase();
  const { key, label, client, title, firstWords } = row;
  return [shortName(key), label, client, title, firstWords].some((name) =>
    name?.toLowerCase().includes(wanted),
  );
}

const placeOf = ({ updatedAt, key }: ListPlace): string => `${updatedAt} ${key}`;

function readPlace(text: string): ListPlace {
  const space = text.indexOf(" ");
  if (space > 0) return { updatedAt: text.slice(0, space), key: text.slice(space + 1) };
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `after=${text} is no place in the list; give the "next" of the page before, or leave it out for the newest.`,
  );
}
