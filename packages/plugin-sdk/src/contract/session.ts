// How a session is named.

/**
 * One continuing conversation: `sessionKey` is its stable name, `sessionId` its current transcript.
 */
export interface SessionRef {
  sessionId: string;
  sessionKey?: string;
}

export interface SessionTarget {
  agentId: string;
  sessionId: string;
  sessionKey?: string;
  storePath?: string;
  [key: string]: unknown;
}

/** Where an entry stands in a transcript (durable lifecycle, contract §1.2). */
export interface TranscriptEntryAnchor {
  agentId: string;
  sessionId: string;
  sessionKey: string;
  storePath: string;
  /** Grows when the transcript is replaced. */
  generation: number;
  entryId: string;
  rawSeq: number;
  effectiveParentId: string | null;
  activeMessagePosition: number;
  idempotencyKey?: string;
}

export interface TurnAdmission extends TranscriptEntryAnchor {
  logicalTurnId: string;
  role: "user";
}
