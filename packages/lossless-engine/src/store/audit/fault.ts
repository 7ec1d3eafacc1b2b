// What an audit tells of, and how it goes on past what cannot be read.
import { isDamage } from "../failure.ts";
import type { Snapshot } from "../snapshot.ts";

/** Something that is not as it was stored. */
export interface Fault {
  /**
   * "changed": it says something else than was stored, or stands in another place. "missing": it
   * was stored and is gone. "added": it was never stored. "unreadable": nothing can read it.
   * "inconsistent": two tables of the database contradict each other.
   */
  readonly kind: "changed" | "missing" | "added" | "unreadable" | "inconsistent";
  /** What kind of thing it is. */
  readonly what:
    | "message"
    | "payload"
    | "edge"
    | "change"
    | "conversation"
    | "summary"
    | "session"
    | "record"
    | "cursor"
    | "turn"
    | "forgetting"
    | "index"
    | "file";
  /** Which one: its number. Null: the whole of it. */
  readonly number: number | null;
  /** One sentence for people. */
  readonly text: string;
}

/** One part of an audit, which reads a slice at a time. */
export interface AuditPart {
  readonly name: string;
  /** True once all that is there at this moment was read. */
  readOn(moment: Snapshot, isOver: () => boolean): boolean;
  /** Gives it a later moment, of which it reads what came since. Absent: it cannot. */
  readLater?(): void;
  /** What was found so far. */
  readonly faults: readonly Fault[];
  /** How many things were read so far. */
  readonly read: number;
  /** Lets go of what it holds, also before its end. Absent: nothing. */
  close?(): void;
}

/** Rows that are looked at in one step. */
export const ROWS_AT_ONCE = 32;

/** Undefined: what `work` reads stands on a damaged page. */
export function readable<Answer>(work: () => Answer): Answer | undefined {
  try {
    return work();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}

/** A part ends where its table cannot be read. */
export function orUnreadable(
  faults: Fault[],
  what: Fault["what"],
  name: string,
  work: () => boolean,
): boolean {
  const isDone = readable(work);
  if (isDone === undefined)
    faults.push(fault("unreadable", what, null, `${name} stand on a damaged page of the file`));
  return isDone ?? true;
}

export function fault(
  kind: Fault["kind"],
  what: Fault["what"],
  number: number | null,
  text: string,
): Fault {
  return { kind, what, number, text };
}

export const changed = (seq: number): Fault =>
  fault("changed", "message", seq, `message ${seq} is not what was stored, or not in its place`);
