// Where what the door knows of sessions is kept.

/** Of how many sessions and bytes journals are read. */
export interface JournalBounds {
  maxBytes: number;
  maxFiles: number;
}

/** An open session, by the names of its transcript. */
export interface JournalSession {
  agentId: string;
  sessionId: string;
  sessionKey: string;
  /** Its file, or a copy of that. */
  sessionFile: string;
}

/** Of one session that is open here. */
export interface SessionJournal {
  /** Its text. Undefined: there is none. */
  read(): Promise<string | undefined>;
  /** Lines behind those that are there. Throws where they cannot be stored. */
  append(text: string): Promise<void>;
}

export interface DoorJournals {
  /** Texts of those used last, the one used longest ago first. */
  all(agentId: string, bounds: JournalBounds): AsyncIterable<string>;
  of(session: JournalSession): SessionJournal;
}
