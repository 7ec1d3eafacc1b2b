// What code knows of a session, as plain data.
import type { NameKind } from "./names.ts";
import type { Passage } from "./passages.ts";
import type { Pin } from "./pins.ts";

/** What kind of name it is: one that was said, a command that was run, an error that came back. */
export type LedgerKind = NameKind | "command" | "error";

/** One name, and what is known of it. */
export interface LedgerItem {
  /** Decides how it is listed. */
  readonly kind: LedgerKind;
  /** Exactly as it stood there; of a command or error its one line. */
  readonly name: string;
  /** Last known: "read", "edited", "edit failed", "ok", "failed: …". Absent: it was only named. */
  readonly state?: string | undefined;
  /** The entry that said so. Absent: nothing is known. */
  readonly stateEntryId?: string | undefined;
  /** The entry that last named it. */
  readonly entryId: string;
  /** How much it was talked about, fading with every entry; only compared. */
  readonly weight: number;
  /** Number of the entry that last named it. */
  readonly at: number;
}

/** What the result of a call will say of an item. */
export interface Expected {
  /** Of the item. */
  readonly key: string;
  /** Its state if the call succeeds, as in `LedgerItem`. */
  readonly done: string;
  /** Its state if not. Absent: it is a command, "failed: " and why. */
  readonly failed?: string | undefined;
}

/**
 * What code knows of a session after an entry: everything that a record is rendered from. A host
 * keeps it (see `saveLedger`) and folds only what came after `lastEntryId`.
 */
export interface LedgerState {
  /** By name, commands and errors by kind and name; what was named last comes last. */
  readonly items: ReadonlyMap<string, LedgerItem>;
  /** By call id: the items a result will say something about, and what, when it succeeds. */
  readonly open: ReadonlyMap<string, readonly Expected[]>;
  /**
   * Names that came once, in one of many outputs or in a shape that says little: named when they
   * come again. Newest last.
   */
  readonly once: ReadonlySet<string>;
  /** By text: verbatim passages that name much in little room; last seen last. */
  readonly passages: ReadonlyMap<string, Passage>;
  /** By text: what people asked to hold to, in their words; last said last. */
  readonly pins: ReadonlyMap<string, Pin>;
  /** Entries folded so far. */
  readonly entries: number;
  /** The entry to go on after; null = nothing was folded yet. */
  readonly lastEntryId: string | null;
}

/** The ledger of a session in which nothing happened yet. */
export const EMPTY_LEDGER: LedgerState = Object.freeze({
  items: new Map(),
  open: new Map(),
  once: new Set<string>(),
  passages: new Map(),
  pins: new Map(),
  entries: 0,
  lastEntryId: null,
});

/** Under which an item stands in `LedgerState.items`; no name has a line feed in it. */
export const keyOf = ({ kind, name }: Pick<LedgerItem, "kind" | "name">): string =>
  kind === "command" || kind === "error" ? `${kind}\n${name}` : name;

/** Entries after which a mention counts half: what a session is about stays for long. */
const HALF_LIFE = 500;

/** How much an item counts after `entries` entries. */
export function ledgerScore(item: LedgerItem, entries: number): number {
  return item.weight * 0.5 ** ((entries - item.at) / HALF_LIFE);
}
