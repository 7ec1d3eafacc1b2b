// Walks a table by its numbers, goes on with what came since, and ends on any file.
import { isSame } from "../chain.ts";
import type { Sql } from "../sql.ts";
import { type AuditPart, type Fault, fault, orUnreadable, ROWS_AT_ONCE } from "./fault.ts";

type Row = Record<string, unknown>;

/** What looks at rows; it may remember those before. */
export interface Looker {
  row(sql: Sql, row: Row): readonly Fault[];
  /** What only all rows together tell. */
  end?(sql: Sql): readonly Fault[];
}

/** A table that is walked: its rows have an id, and a hash. */
export interface Walked {
  /** Of the part. */
  readonly name: string;
  readonly table: string;
  readonly what: Fault["what"];
  /** Its rows, for people: "long texts". */
  readonly things: string;
  /** Rows of one step. Absent: as many as in other parts. */
  readonly atOnce?: number;
  /** For a walk from the first row on. */
  look(): Looker;
}

/** Below every number, also those that nobody gave. */
const FIRST = -Infinity;

export function walkPart({
  name,
  table,
  what,
  things,
  atOnce = ROWS_AT_ONCE,
  look,
}: Walked): AuditPart {
  const found: Fault[] = [];
  let closing: readonly Fault[] = [];
  let looker = look();
  let last: Row = {};
  let [upTo, read, isLater] = [FIRST, 0, false];
  /** Numbers of rows that are gone are given again: then all are read again. */
  const startOverIfReplaced = (sql: Sql) => {
    isLater = false;
    if (read === 0) return;
    const now = sql(`SELECT hash FROM ${table} WHERE id = ?`).get(upTo)?.hash;
    if (now === last.hash || (now instanceof Uint8Array && isSame(last.hash, now))) return;
    found.length = 0;
    looker = look();
    [upTo, read] = [FIRST, 0];
  };
  const step = (sql: Sql): boolean => {
    if (isLater) startOverIfReplaced(sql);
    const rows = sql(`SELECT * FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`).all(upTo, atOnce);
    for (const row of rows) {
      if (Number(row.id) <= upTo) {
        found.push(circling(what, things, upTo));
        return true;
      }
      found.push(...looker.row(sql, row));
      [upTo, last] = [Number(row.id), row];
      read++;
    }
    if (rows.length === atOnce) return false;
    closing = looker.end?.(sql) ?? [];
    return true;
  };
  return {
    name,
    get faults() {
      return [...found, ...closing];
    },
    get read() {
      return read;
    },
    readLater() {
      isLater = true;
    },
    readOn(moment, isOver) {
      for (;;) {
        const isDone = orUnreadable(found, what, things, () => moment.read(step));
        if (isDone || isOver()) return isDone;
      }
    },
  };
}

/** Where pages were exchanged rows come again, for ever. */
const circling = (what: Fault["what"], things: string, upTo: number): Fault =>
  fault("unreadable", what, null, `pages out of order hide ${things} behind number ${upTo}`);
