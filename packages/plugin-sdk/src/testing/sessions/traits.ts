// What an engine was seen to do with short and quiet sessions.
import type { Dropped } from "./fields.ts";

/** Whether a new process has anything of what was told before, however long after. */
export interface Lasting {
  /** On hosts that keep a file of the session, which may be all that is needed. */
  withFiles: boolean;
  withoutFiles: boolean;
}

/** Only what an engine does there by itself is asked of it elsewhere. */
export interface Traits {
  /** It shows all of it. */
  showsAll: boolean;
  /** It has all of it when it is given nothing. */
  keepsAll: boolean;
  /** And what tools returned is whole there, however long and old. */
  keepsResults: boolean;
  /** It has all of a short session that was there before it, as soon as it was bootstrapped. */
  takesPast: boolean;
  /** What is left of it when the process is killed. */
  lasts: Lasting;
  /** It says so when it has no room for what it must show. */
  saysOverflow: boolean;
  /** A view with little room does not change those after it, not even of the same turn. */
  forgetsBudgets: boolean;
  /** What it says in words of its own where it shows everything; see `ownWords`. */
  usual: ReadonlySet<string>;
  /** Fields of messages that it leaves out, by role, in what it shows. */
  drops: Dropped;
  /** And in what it keeps. */
  loses: Dropped;
}

/** Of an engine that nothing is known of. */
export const UNKNOWN: Traits = {
  ...{ showsAll: false, keepsAll: false, keepsResults: false, takesPast: false },
  lasts: { withFiles: false, withoutFiles: false },
  usual: new Set(),
  forgetsBudgets: false,
  ...{ saysOverflow: false, drops: undefined, loses: undefined },
};
