// The shape in which a report tells of the program that ran its turn.
import type { HostCapability } from "@clew/plugin-sdk/core";

/** How the context entered a program that keeps a thread of its own. */
export interface ExecutionProjection {
  /** "continued": one that had it already got what it lacked · "per-turn": one for this turn. */
  thread: "new" | "continued" | "per-turn";
  /** The program's id of it. */
  threadId: string;
  /** Why this one, for people: "the engine began another epoch". */
  reason: string;
  /** "prompt": the person's message alone. */
  as: "items" | "quoted" | "prompt";
  /** Newest messages of what the engine chose and the turn holds that were handed over now. */
  handed: number;
  /**
   * Id of the first stored message that a session of the program's own was handed: what was said
   * before it does not know. Absent: not known, or the thread has what the engine chose.
   */
  knowsFrom?: string;
  /**
   * True: the program made the thread smaller in an earlier turn, so that nobody here knows what it
   * still shows of that. Absent: it did not.
   */
  isCompacted?: true;
}

/** Which program ran the turn. */
export interface ExecutionReport {
  /** Of its host, as engines are told: "codex-app-server". */
  id: string;
  /** Of the program. */
  harnessId: string;
  /** For people. */
  label: string;
  /** What an engine may require and this host cannot do; empty: nothing. */
  cannot: HostCapability[];
  /** How the context entered, once per attempt. */
  projections: ExecutionProjection[];
  /** How often the program made its thread smaller by itself. */
  nativeCompactions: number;
  /** What was odd, for people. Absent: nothing. */
  notices?: string[];
}
