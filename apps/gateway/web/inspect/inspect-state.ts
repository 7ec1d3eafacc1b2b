// What the inspector shows, as one value, and what follows from it.

import type { Usage } from "../../src/costs/usage.ts";
import type { ShadowView } from "../../src/gateway/session-views.ts";
import type { CallDiff, CallRow, CallView, EntryRow, WhatIf } from "../../src/inspect/shapes.ts";
import { type Link, NO_LINK } from "./links.ts";
import { NEWEST, type Place } from "./place.ts";

/** Entries in a page of the transcript. */
export const PAGE_SIZE = 100;

/** The transcript as one call had it, read as far as it was looked at. */
export interface EntryPages {
  total: number;
  pages: ReadonlyMap<number, readonly EntryRow[]>;
}

export const NO_ENTRIES: EntryPages = { total: 0, pages: new Map() };

export interface InspectState {
  /** The session that all of it is about. */
  key: string;
  place: Place;
  /** Its calls, oldest first, as far as they are read. */
  rows: readonly CallRow[];
  isReading: boolean;
  /** What they all came to; null = not read yet. */
  usage: Usage | null;
  /** How many there were then. */
  usageOf: number;
  /** The call shown; null = not read yet, or there is none. */
  view: CallView | null;
  /** Null: there is no call to compare with, or it is not read yet. */
  diff: CallDiff | null;
  entries: EntryPages;
  link: Link;
  /** What the session would have been otherwise, laid over it; null = none was asked for. */
  whatIf: WhatIf | null;
  /** What a shadow engine made of its calls; null = none was handed any, or it was not read. */
  shadow: ShadowView | null;
  /** Why something cannot be shown. */
  problem: string | null;
}

export const initialInspect = (key: string): InspectState => ({
  ...{ key, place: NEWEST, rows: [], isReading: true },
  ...{ usage: null, usageOf: 0, view: null, diff: null },
  ...{ entries: NO_ENTRIES, link: NO_LINK, whatIf: null, shadow: null, problem: null },
});

type Placed = Pick<InspectState, "place" | "rows">;

/** The call that the place names; null = there is none yet. */
export const callShown = ({ place, rows }: Placed): string | null =>
  place.call ?? rows.at(-1)?.id ?? null;

/** What it is compared with: what was chosen, or the call before. */
export function callBefore({ place, rows }: Placed): string | null {
  if (place.from !== null) return place.from;
  const index = indexOfCall(rows, callShown({ place, rows }));
  return index > 0 ? (rows[index - 1]?.id ?? null) : null;
}

/** −1: it is not among them. */
export const indexOfCall = (rows: readonly CallRow[], id: string | null): number =>
  rows.findLastIndex((row) => row.id === id);

/**
 * Pure. Why the call that the place names, and the one to compare with, cannot be shown; undefined
 * for one that is there.
 */
export function missingCalls({ place, rows }: Placed): [string | undefined, string | undefined] {
  const newest = rows.at(-1)?.id;
  const missing = (id: string | null, what: string) => {
    if (id === null || indexOfCall(rows, id) >= 0) return undefined;
    return newest === undefined
      ? `There is no call ${id}${what}: no model was called in this session.`
      : `There is no call ${id} in this session${what}; the newest one is ${newest}.`;
  };
  return [missing(place.call, ""), missing(place.from, " to compare with")];
}

/** Null: there is no call so far away. The newest is followed when it is stepped to. */
export function stepFrom({ place, rows }: Placed, id: string | null, by: number): Place | null {
  const index = indexOfCall(rows, id) + by;
  const row = rows[index];
  if (row === undefined) return null;
  return { ...place, call: index === rows.length - 1 ? null : row.id, opened: null };
}

/** Undefined: it is not read yet. */
export const entryAt = ({ pages }: EntryPages, index: number): EntryRow | undefined =>
  pages.get(Math.floor(index / PAGE_SIZE))?.[index % PAGE_SIZE];
