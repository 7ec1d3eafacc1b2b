// What a host keeps for an engine beside sessions that other machines have too.
import type { SessionRef } from "./session.ts";

/** A row of an engine, under names that are the engine's own. */
export interface EngineRow {
  /** What sort of row it is. */
  readonly kind: string;
  /** Tells it from all others of its kind. */
  readonly key: string;
  /** JSON; null: the row is gone. */
  readonly body: string | null;
}

/** Another transcript of an agent. */
export interface OtherTranscript {
  /** Its id; a session that begins anew has another. */
  readonly sessionId: string;
  /** Of its session, also where that has begun anew since. */
  readonly sessionKey: string;
  /** When something was last added to it, ms, by one clock for all machines. */
  readonly changedAt: number;
}

/** The rows of one engine beside one session, as long as that is open on this machine. */
export interface SessionRows {
  /** All that are there. Throws STORAGE_FAILED. */
  load(): Promise<readonly EngineRow[]>;
  /**
   * Puts rows in the place of those of their names, all of them or none, durably: "lost" = nothing
   * is stored, as another machine has the session. Throws STORAGE_FAILED where nobody knows; the
   * same may be stored again then.
   */
  store(rows: readonly EngineRow[]): Promise<"stored" | "lost">;
  /**
   * Lines of the session's transcript behind the first `after` of them, at most `limit`, of all its
   * branches, in the order in which they were stored.
   */
  lines(part: { after: number; limit: number }): Promise<readonly string[]>;
  /** The same of another transcript of the session's agent, to be read. */
  beside(sessionId: string): Pick<SessionRows, "load" | "lines">;
  /**
   * The other transcripts of the session's agent to which something was added at `since` or after
   * it, newest first. Throws STORAGE_FAILED. Absent: nobody says.
   */
  others?(since: number): Promise<readonly OtherTranscript[]>;
}

/**
 * Where sessions move between machines: an engine keeps here what it knows of a session and no
 * transcript says, and finds it at the next machine. Messages are in the transcript.
 */
export interface EngineRows {
  /**
   * Another object each time that the session was opened here. Undefined: it is not open for
   * writing on this machine.
   */
  of(session: SessionRef, engineId: string): SessionRows | undefined;
  /**
   * The first of `count` numbers of a kind, all above `above`, that no other machine gets. Throws
   * STORAGE_FAILED.
   */
  reserve(kind: string, numbers: { count: number; above: number }): Promise<number>;
}
