// What each engine has acknowledged of a session, and who keeps that.

/** How often an engine refused a turn, and why. */
export interface Refusal {
  /** Times it was offered in vain. */
  attempts: number;
  /** Of the last attempt, for people. */
  reason: string;
  /** The engine's version then; another version is offered the turn anew. Null = it named none. */
  version: string | null;
}

/** What one engine has acknowledged. */
export interface DeliveryRecord {
  /**
   * The session id at the engine's first sight. Names the session in keys of its turns, whatever
   * transcript the session moves to.
   */
  readonly root: string;
  /** Ids of the messages it took. */
  readonly acknowledged: ReadonlySet<string>;
  /** Turns it refused, by the id of their first message. */
  readonly refused: ReadonlyMap<string, Refusal>;
}

/** One line of a ledger; a record is what its lines add up to. */
export type DeliveryChange =
  /** The engine sees the session for the first time; `ids` are none of its business any more. */
  | { kind: "seen"; root: string; ids: readonly string[] }
  | { kind: "acknowledged"; ids: readonly string[] }
  /** What it kept of these is gone, as when its store was put back: they are pending again. */
  | { kind: "lost"; ids: readonly string[] }
  | { kind: "refused"; turnId: string; reason: string; version: string | null }
  /** Somebody asked for one more attempt at a turn that was refused. */
  | { kind: "retry"; turnId: string };

/** A change, and whose record it changes. */
export interface DeliveryLine {
  /** The engine of the record. */
  engineId: string;
  /** What is new in it. */
  change: DeliveryChange;
}

/** Keeps the records of one session's engines. */
export interface DeliveryPort {
  /** Undefined: this engine has never been told of the session. */
  read(engineId: string): DeliveryRecord | undefined;
  /** Ids of the engines that were told of it. */
  engines(): readonly string[];
  /** Resolves when a restart would find it. */
  save(engineId: string, change: DeliveryChange): Promise<void>;
}
