// What an engine was seen to do with short and quiet sessions.
import type { Dropped } from "./fields.ts";

/** Only what an engine does there by itself is asked of it elsewhere. */
export interface Traits {
  /** It shows all of it. */
  showsAll: boolean;
  /** It has all of it when it is given nothing. */
  keepsAll: boolean;
  /** And what tools returned is whole there, however long and old. */
  keepsResults: boolean;
  /** And has it after a restart. */
  persists: boolean;
  /** It says so when it has no room for what it must show. */
  saysOverflow: boolean;
  /** Fields of messages that it leaves out, by role, in what it shows. */
  drops: Dropped;
  /** And in what it keeps. */
  loses: Dropped;
}

/** Of an engine that nothing is known of. */
export const UNKNOWN: Traits = {
  ...{ showsAll: false, keepsAll: false, keepsResults: false, persists: false },
  ...{ saysOverflow: false, drops: undefined, loses: undefined },
};
