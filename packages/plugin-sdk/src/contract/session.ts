// How a session is named.

/**
 * One continuing conversation: `sessionKey` is its stable name, `sessionId` its current transcript.
 */
export interface SessionRef {
  /** Changes when the session moves to a successor transcript. */
  sessionId: string;
  /** Never changes. Absent: the host knows the session by `sessionId` only. */
  sessionKey?: string;
}

/** Where a host keeps a session. */
export interface SessionTarget {
  /** The agent whose session it is. */
  agentId: string;
  /** Its current transcript. */
  sessionId: string;
  /** Its stable name. Absent: it has none. */
  sessionKey?: string;
  /** Absolute path of the file or database. Absent: the host's usual place. */
  storePath?: string;
  /** Hosts add keys; hand them back as they came. */
  [key: string]: unknown;
}

/** Where an entry stands in a transcript (durable lifecycle, contract §1.2). */
export interface TranscriptEntryAnchor {
  /** The agent whose session it is. */
  agentId: string;
  /** The transcript that holds the entry. */
  sessionId: string;
  /** Stable name of the session. */
  sessionKey: string;
  /** Absolute path of the file or database that holds it. Absent: the host keeps it elsewhere. */
  storePath?: string;
  /** Grows when the transcript is replaced. */
  generation: number;
  /** Unique within the transcript. */
  entryId: string;
  /** Position among all entries of the active branch, from 0. */
  rawSeq: number;
  /** The entry before it on the branch; null = it is the first. */
  effectiveParentId: string | null;
  /** Position among the branch's messages, from 0. */
  activeMessagePosition: number;
  /** Key of the entry's message. Absent: it was stored without one. */
  idempotencyKey?: string;
}

/** The user entry that began a turn, made durable before any model was asked. */
export interface TurnAdmission extends TranscriptEntryAnchor {
  /** Same turn, same id, in every process and at every delivery. */
  logicalTurnId: string;
  /** Only a user's entry begins a turn. */
  role: "user";
}
