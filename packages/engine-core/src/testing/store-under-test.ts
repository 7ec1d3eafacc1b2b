// What a store offers to be checked.
import type { SuccessorPort, TranscriptPort } from "../transcript-port.ts";

/** A session's transcript, open for writing. */
export interface OpenedTranscript extends TranscriptPort {
  /** Ends the writing, after what is under way. Absent: the store never closes a session. */
  close?(): Promise<void>;
}

/** A store that holds one session, empty at first. */
export interface TranscriptStoreUnderTest {
  /** Opens the session for writing; refused with SESSION_LOCKED while it is open. */
  open(): Promise<OpenedTranscript>;
  /**
   * Lets another process append until it is killed in the middle; resolves to how many messages it
   * was told are stored. Absent: the store does not outlive its process.
   */
  killWriter?(): Promise<number>;
  /**
   * The same with `appendStep`: each step holds a user message under an id of the writer's choice
   * (`__openclaw.id`) and its acknowledgement by the engine "a". Absent: the store has no
   * `appendStep`, or does not outlive its process.
   */
  killStepWriter?(): Promise<number>;
  /**
   * Begins another transcript for the session, as an engine's compaction does: `open` opens it once
   * the session has moved there. Absent: sessions stay where they are.
   */
  beginSuccessor?(): Promise<BegunSuccessor>;
}

/** A transcript that a session may move to. */
export interface BegunSuccessor {
  /** Its id. */
  sessionId: string;
  /** Absolute path, for stores that keep files. */
  sessionFile?: string;
  /** As `SuccessorPort.adopt`, which hosts give to core. */
  adopt(move: Parameters<SuccessorPort["adopt"]>[0]): Promise<OpenedTranscript | undefined>;
}
