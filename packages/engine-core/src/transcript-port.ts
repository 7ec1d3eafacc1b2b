// What a host's store of one session can be asked for.
import type { TranscriptRewriteRequest, TranscriptRewriteResult } from "@clew/plugin-sdk/core";
import type { NewTranscriptEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { DeliveryLine, DeliveryPort } from "./delivery-port.ts";
import type { ReportParts } from "./report/item.ts";
import type { TurnReport } from "./report/turn-report.ts";

/** The identity of one session as ports know it. */
export interface HostSession {
  /** Whose session it is. */
  agentId: string;
  /** Its current transcript; a compaction may move it to another. */
  sessionId: string;
  /** Its stable name. */
  sessionKey: string;
  /**
   * Absolute path of the transcript; engines of the eager lifecycle read it themselves. Absent:
   * this host keeps no file, and engines are told of every message instead.
   */
  sessionFile?: string;
}

/**
 * Which entries of a branch: those that follow the entry `after` (null = from the first on), or the
 * newest `tail`.
 */
export type BranchPart = { after: string | null } | { tail: number };

/** One session's transcript, opened for writing by this host alone. */
export interface TranscriptPort {
  /** Which session this is. */
  readonly session: HostSession;
  /**
   * True when the transcript file already holds a session: only then may an
   * engine bootstrap from it.
   */
  exists(): boolean;
  /**
   * Entries of the active branch, oldest first, the same objects on every call; null when
   * `after` is not on the branch any more. Asked before every effect of a turn, nearly always for
   * what follows the newest entry that was read: a store that knows its leaf answers that from
   * memory.
   */
  read(part: BranchPart): Promise<readonly TranscriptEntry[] | null>;
  /**
   * Appends after the leaf; resolves when the entries are durable. A message without an id gets
   * its entry's, as `placeEntry` does it. Throws STORAGE_FAILED when they could not be written.
   */
  append(entries: readonly NewTranscriptEntry[]): Promise<readonly TranscriptEntry[]>;
  /**
   * `append` for a store that is one database: entries, ledger changes and the report of the turn
   * that ends, in one transaction. Either all of it is there when it resolves, in `read` and
   * `deliveries` too, or it throws and none of it is, ever. Asked instead of `append` in turns.
   * Absent: entries and ledger are stored one after the other, and the report is the host's to
   * store.
   */
  appendStep?(step: TranscriptStep): Promise<readonly TranscriptEntry[]>;
  /**
   * Replaces messages by re-appending the suffix of the branch (contract §1.5); messages keep
   * their ids, replacements too. Throws TRANSCRIPT_MOVED when it moved meanwhile, and
   * REQUEST_INVALID when a replacement is no message. `remapped` gives the new id of each entry
   * that was appended again.
   */
  rewrite(
    request: TranscriptRewriteRequest,
  ): Promise<TranscriptRewriteResult & { remapped?: ReadonlyMap<string, string> }>;
  /**
   * What each engine has acknowledged of this session; a successor goes on with it. Absent: it is
   * kept in memory, and this host runs the eager lifecycle only.
   */
  readonly deliveries?: DeliveryPort;
}

/** What is stored together. Each part may be missing, not all of them. */
export interface TranscriptStep {
  /** As for `append`. */
  entries: readonly NewTranscriptEntry[];
  /** What engines acknowledged or refused just before, in order. */
  deliveries: readonly DeliveryLine[];
  /** Of the turn or compaction that ends with this step, as it is returned; null = none ends. */
  report: { report: TurnReport; parts: ReportParts } | null;
}

/** Moves a session to the transcript an engine made for it. */
export interface SuccessorPort {
  /**
   * Compare-and-set: resolves to the opened successor, or undefined when the
   * session had moved on meanwhile.
   */
  adopt(move: {
    from: HostSession;
    sessionId: string;
    sessionFile: string | undefined;
    /**
     * To be awaited with the opened successor before the session is moved to it: brings the running
     * turn and what engines have acknowledged, so that a crash finds both or neither.
     */
    prepare(successor: TranscriptPort): Promise<void>;
  }): Promise<TranscriptPort | undefined>;
}
