// What an engine under test keeps on a disk of its own.

/** One message as an engine was given it. */
export interface Row {
  id: string | undefined;
  event: string;
  role: string;
  content: string;
  /** As the call said; undefined = it came by bootstrap. */
  isHeartbeat: boolean | undefined;
}

/** What an engine keeps on the disk. */
export interface EngineStore {
  /** In the order they were stored; a known id is not stored again. */
  rows: Row[];
  /** How many calls that returned to the host brought each id. */
  acknowledged: Map<string, number>;
  /** Ids of calls that failed, or whose return the host may not have seen. */
  doubtful: Set<string>;
  /** Ids that it read by itself before what is older was given to it. */
  readAhead: Set<string>;
  /** Ids of what was there before its first turn, where it does not read the transcript. */
  before: ReadonlySet<string>;
  /** Ids acknowledged since the running command began. */
  recent: string[];
  /** Keys of committed turns, and the ids of their messages. */
  keys: Map<string, string>;
  /** Ids its summary stands for. */
  covered: Set<string>;
  summary: string | undefined;
  hasBootstrapped: boolean;
  /** Its maintenance that waits to be told to stop. */
  hangs: Set<object>;
  /** What should never have happened, as sentences. */
  wrong: string[];
}

export const emptyStore = (): EngineStore => ({
  rows: [],
  acknowledged: new Map(),
  doubtful: new Set(),
  readAhead: new Set(),
  before: new Set(),
  recent: [],
  keys: new Map(),
  covered: new Set(),
  summary: undefined,
  hasBootstrapped: false,
  hangs: new Set(),
  wrong: [],
});
