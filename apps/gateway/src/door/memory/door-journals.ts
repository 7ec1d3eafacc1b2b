// Where what the door knows of sessions is kept.
import type { ReadJournal } from "./journal-lines.ts";

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
  /** Undefined: there is none, or it is no journal. */
  read(): Promise<ReadJournal | undefined>;
  /** Lines behind those that are there. Throws where they cannot be stored. */
  append(text: string): Promise<void>;
}

export interface DoorJournals {
  /** Those used last, the one used longest ago first. */
  all(agentId: string, bounds: JournalBounds): AsyncIterable<ReadJournal>;
  of(session: JournalSession): SessionJournal;
}
