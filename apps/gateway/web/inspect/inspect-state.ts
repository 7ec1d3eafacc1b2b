// What the inspector shows, as one value, and what follows from it.

import type { Usage } from "../../src/costs/usage.ts";
import type { ShadowView } from "../../src/gateway/session-views.ts";
import { describeTurn } from "../../src/inspect/describe-turn.ts";
import { describeLetGo, isLetGo } from "../../src/inspect/let-go.ts";
import type { CallPage, CallRow, MissingTurn } from "../../src/inspect/shapes/calls.ts";
import type { EntryRow } from "../../src/inspect/shapes/entries.ts";
import type { CallDiff, CallView, Proof, SentItem } from "../../src/inspect/shapes/one-call.ts";
import type { WhatIf } from "../../src/lab/shapes.ts";
import type { FateFilter } from "./fates.ts";
import { type Link, NO_LINK } from "./links.ts";
import { NEWEST, type Place, turnNamed } from "./place.ts";

/** Entries in a page of the transcript. */
export const PAGE_SIZE = 100;

/** Items of a call in a page; most calls have no more. */
export const ITEMS_SIZE = 1000;

/** A long list, read as far as it was looked at. */
export interface Pages<Row> {
  total: number;
  /** Rows of a page. */
  size: number;
  pages: ReadonlyMap<number, readonly Row[]>;
}

const NO_ENTRIES: Pages<EntryRow> = { total: 0, size: PAGE_SIZE, pages: new Map() };
const NO_ITEMS: Pages<SentItem> = { total: 0, size: ITEMS_SIZE, pages: new Map() };

/** The transcript as one call had it. */
export interface ShownEntries extends Pages<EntryRow> {
  /** The call; null = none was read yet. */
  of: CallRow | null;
  filter: FateFilter;
}

export const NOTHING_SHOWN: ShownEntries = {
  ...{ ...NO_ENTRIES, of: null, filter: NEWEST.filter },
};

export interface InspectState {
  /** The session that all of it is about. */
  key: string;
  place: Place;
  /** Its calls, oldest first, as far as they are read: the newest are read first. */
  rows: readonly CallRow[];
  /** How many there are. */
  total: number;
  /** All of them, and what they were sent. */
  sums: CallPage["sums"];
  /** The dearest and the fullest of all. */
  peaks: CallPage["peaks"];
  /** Side calls since the newest call. */
  sideCalls: number;
  /** So many turns, from the first on, are kept no more. */
  letGoTurns: number;
  /** Turns whose reports nobody can read. */
  unreadableTurns: readonly number[];
  /** Turns that have no report. */
  missingTurns: readonly MissingTurn[];
  /** The call whose elders are to be read; null = there are none. */
  older: string | null;
  /** Nothing is read yet. */
  isReading: boolean;
  /** What they all came to; null = not read yet. */
  usage: Usage | null;
  /** As far as the session had come then. */
  usageOf: string;
  /** The call shown; null = not read yet, or there is none. */
  view: CallView | null;
  /** Null: there is no call to compare with, or it is not read yet. */
  diff: CallDiff | null;
  /** Of `view`. */
  items: Pages<SentItem>;
  /** Of `view`; null = not read yet. */
  proof: Proof | null;
  entries: ShownEntries;
  link: Link;
  /** What the session would have been otherwise, laid over it; null = none was asked for. */
  whatIf: WhatIf | null;
  /** What a shadow engine made of its calls; null = none was handed any, or it was not read. */
  shadow: ShadowView | null;
  /** Why something cannot be shown. */
  problem: string | null;
  /** The call that was asked for last, and the one to compare with, once there is an answer. */
  answered: { call: string | null; from: string | null };
}

const NO_SUMS = { calls: 0, turns: 0, sent: 0 };
const NO_PEAKS = { dearest: null, fullest: null };

export const initialInspect = (key: string): InspectState => ({
  ...{
    key,
    place: NEWEST,
    rows: [],
    total: 0,
    sums: NO_SUMS,
    peaks: NO_PEAKS,
    sideCalls: 0,
    letGoTurns: 0,
    unreadableTurns: [],
    missingTurns: [],
    older: null,
    isReading: true,
  },
  ...{ usage: null, usageOf: "", view: null, diff: null, items: NO_ITEMS, proof: null },
  ...{ entries: NOTHING_SHOWN, answered: { call: null, from: null } },
  ...{ link: NO_LINK, whatIf: null, shadow: null, problem: null },
});

type Placed = Pick<InspectState, "place" | "rows">;

/** The call that the place names; null = there is none yet. */
export const callShown = ({ place, rows }: Placed): string | null =>
  place.call ?? rows.at(-1)?.id ?? null;

/** What it is compared with: what was chosen, or the call before. */
export function callBefore({ place, rows }: Placed): string | null {
  const shown = callShown({ place, rows });
  // Compared with itself, nothing is ever different.
  if (place.from !== null && place.from !== shown) return place.from;
  const index = indexOfCall(rows, shown);
  return index > 0 ? (rows[index - 1]?.id ?? null) : null;
}

/** −1: it is not among them. */
export const indexOfCall = (rows: readonly CallRow[], id: string | null): number =>
  rows.findLastIndex((row) => row.id === id);

/**
 * Pure. Why the call that the place names, and the one to compare with, cannot be shown; undefined
 * for one that is there.
 */
export function missingCalls({
  place,
  rows,
  ...told
}: Placed & Pick<InspectState, "letGoTurns" | "unreadableTurns" | "missingTurns">): [
  string | undefined,
  string | undefined,
] {
  const { letGoTurns } = told;
  const newest = rows.at(-1)?.id;
  const missing = (id: string | null, what: string) => {
    if (id === null || indexOfCall(rows, id) >= 0) return undefined;
    const turn = turnNamed(id);
    if (turn !== null) return describeTurn({ ...told, turn, rows });
    if (isLetGo(id, letGoTurns))
      return `There is no call ${id} any more${what}: ${describeLetGo(letGoTurns)}.`;
    return newest === undefined
      ? `There is no call ${id}${what}: no model was called in this session.`
      : `There is no call ${id} in this session${what}; the newest one is ${newest}.`;
  };
  return [missing(place.call, ""), missing(place.from, " to compare with")];
}

/** Pure. With the first call of a turn in the place of the turn, as soon as it is known. */
export function withTurns({ place, rows }: Placed): Place {
  const first = (name: string | null) => {
    const turn = turnNamed(name);
    return turn === null ? name : (rows.find((row) => row.turn === turn)?.id ?? name);
  };
  const [call, from] = [first(place.call), first(place.from)];
  return call === place.call && from === place.from ? place : { ...place, call, from };
}

/** Null: there is no call so far away. The newest is followed when it is stepped to. */
export function stepFrom({ place, rows }: Placed, id: string | null, by: number): Place | null {
  const index = indexOfCall(rows, id) + by;
  const row = rows[index];
  if (row === undefined) return null;
  return { ...place, call: index === rows.length - 1 ? null : row.id, opened: null };
}

/** Null: there is no other call so far from the one compared with; the one shown is left out. */
export function stepCompared({ place, rows }: Placed, by: number): string | null {
  const shown = callShown({ place, rows });
  const before = callBefore({ place, rows });
  const from = before === null ? indexOfCall(rows, shown) : indexOfCall(rows, before);
  const next = rows[from + by]?.id === shown ? rows[from + 2 * by] : rows[from + by];
  return next?.id ?? null;
}

/** Undefined: it is not read yet. */
export const rowAt = <Row>({ pages, size }: Pages<Row>, index: number): Row | undefined =>
  pages.get(Math.floor(index / size))?.[index % size];

/** Pure. Place of a row among those that are read; −1: it is none of them. */
export function placeOfRow<Row>(
  { pages, size }: Pages<Row>,
  isWanted: (row: Row) => boolean,
): number {
  for (const [page, rows] of pages) {
    const index = rows.findIndex(isWanted);
    if (index >= 0) return page * size + index;
  }
  return -1;
}

/** Pure. With more of them. */
export const withPages = <Row>(
  known: Pages<Row>,
  total: number,
  more: readonly (readonly [number, readonly Row[]])[],
): Pages<Row> => ({ ...known, total, pages: new Map([...known.pages, ...more]) });
