// The parameters and results of each lifecycle method of a context engine.
import type { AgentMessage } from "./message.ts";
import type { RuntimeContext, RuntimeSettings, TranscriptRewriteResult } from "./runtime.ts";
import type { SessionRef, SessionTarget, TranscriptEntryAnchor, TurnAdmission } from "./session.ts";

/**
 * What newer hosts add to most methods; `info.acceptedHostParams` says which of it an engine takes.
 */
interface HostAdded {
  /** Where the session is stored. Absent: the host names sessions by `SessionRef` alone. */
  sessionTarget?: SessionTarget;
  /** The frozen settings of this run. Absent: an older host, nothing is known. */
  runtimeSettings?: RuntimeSettings;
  /** Helpers and facts of this run. Absent: an older host, there are none. */
  runtimeContext?: RuntimeContext;
}

/** For `bootstrap`: a session whose transcript exists. */
export interface BootstrapParams extends SessionRef, HostAdded {
  /**
   * Absolute path of the transcript (JSONL), which exists and can be read. Absent: the host keeps
   * no file; an engine that needs one says so in `reason`.
   */
  sessionFile?: string;
}

/** What `bootstrap` took in. */
export interface BootstrapResult {
  /** False: there was nothing to read, or it was read before; no failure. */
  bootstrapped: boolean;
  /** Messages taken in by this call. Absent: not counted. */
  importedMessages?: number;
  /** For people: why it came out as it did. Absent: nothing to say. */
  reason?: string;
}

/** For `maintain`: a session to tidy up. */
export interface MaintainParams extends SessionRef, HostAdded {
  /** Absolute path of the transcript (JSONL). Absent: the host keeps no file. */
  sessionFile?: string;
  /** Fires when the work must stop: a cancelled run, a shutdown. Absent: it never must. */
  abortSignal?: AbortSignal;
}

/** What `maintain` changed in the transcript. */
export type MaintainResult = TranscriptRewriteResult;

/** For `ingest`: one message to record. */
export interface IngestParams extends SessionRef {
  /** One new message; never changed afterwards, and not to be changed by the engine. */
  message: AgentMessage;
  /** True: said in a heartbeat, a run the host starts by itself. Absent: false. */
  isHeartbeat?: boolean;
}

/** Whether `ingest` recorded it. */
export interface IngestResult {
  /** False: a duplicate, or nothing to do. */
  ingested: boolean;
}

/** For `ingestBatch`: what a turn added. */
export interface IngestBatchParams extends SessionRef {
  /** New messages, oldest first. */
  messages: AgentMessage[];
  /** As in `IngestParams`, for all of them. Absent: false. */
  isHeartbeat?: boolean;
}

/** How much of it `ingestBatch` recorded. */
export interface IngestBatchResult {
  /** How many of them were new to the engine. */
  ingestedCount: number;
}

/** For `afterTurn`: the session with the turn that was just accepted. */
export interface AfterTurnParams extends SessionRef, HostAdded {
  /** Absolute path of the transcript (JSONL); it holds the turn already. Absent: there is none. */
  sessionFile?: string;
  /** The whole active message list; new ones start at `prePromptMessageCount`. */
  messages: AgentMessage[];
  /** Index into `messages` of the first one this engine has not been given yet. */
  prePromptMessageCount: number;
  /** Summary of a compaction within the turn. Absent: there was none; Clew never gives one. */
  autoCompactionSummary?: string;
  /** As in `IngestParams`, for the new messages. Absent: false. */
  isHeartbeat?: boolean;
  /** Tokens the next assembly may use. Absent: not known. */
  tokenBudget?: number;
}

/** For `assemble`: what there is to choose from, and how much room. */
export interface AssembleParams extends SessionRef, HostAdded {
  /**
   * History without the current user prompt, oldest first; the list is the engine's own, the
   * messages are not.
   */
  messages: AgentMessage[];
  /**
   * Tokens the returned messages may use. Absent: no limit is known; show what there is room for.
   */
  tokenBudget?: number;
  /** Names of the tools the model is offered in this run. Absent: not known. */
  availableTools?: Set<string>;
  /** How memory shall cite its sources. Absent: not set, the memory section decides. */
  citationsMode?: "auto" | "on" | "off";
  /** The model that will answer, "provider/model". Absent: not known. */
  model?: string;
  /**
   * The current user prompt; the host appends it after the assembly. Absent: this call has none.
   */
  prompt?: string;
}

/** What `assemble` chose. */
export interface AssembleResult {
  /** What the model is shown, oldest first, every tool call with its result. */
  messages: AgentMessage[];
  /** Tokens of `messages`; 0 = "not estimated". */
  estimatedTokens: number;
  /**
   * "preassembly_may_overflow": judge the request by the larger of this view and the whole history,
   * because the view was cut in need. Absent: "assembled", the view is what counts.
   */
  promptAuthority?: "assembled" | "preassembly_may_overflow";
  /**
   * Joined to the system prompt of this run: after its cacheable part if it marks one, else before
   * everything. Absent or blank: nothing is joined.
   */
  systemPromptAddition?: string;
  /**
   * Why messages are there, for people who ask: each holds from its place in `messages` up to the
   * next one's; one sentence without a full stop. Absent: nothing is said.
   */
  reasons?: {
    /** Index in `messages`; they ascend. */
    from: number;
    /** At most 200 characters; what is longer is cut. */
    reason: string;
  }[];
  /**
   * Which of `messages` stand for messages of the history that are not shown, for people who ask;
   * hosts that do not know it pass it over. Absent: nothing is said.
   */
  summaries?: {
    /** Index in `messages`. */
    at: number;
    /** The engine's name for it; the same as long as it says the same. */
    id: string;
    /** Stretches of the history, oldest first, by message ids as `messageId` reads them. */
    covers: {
      /** The first message. Absent: the first one of the history. */
      from?: string;
      /** The first message behind the stretch. */
      until: string;
    }[];
  }[];
  /** For hosts whose backend keeps a thread of its own. Absent: `{ mode: "per_turn" }`. */
  contextProjection?: {
    /**
     * "thread_bootstrap": the view is given once per `epoch`, then the backend's thread goes on.
     */
    mode: "per_turn" | "thread_bootstrap";
    /** Another value starts another thread. Absent: no thread is used twice. */
    epoch?: string;
    /**
     * A hash of what the view was made of, for hosts that compare. Absent: none; Clew reads none.
     */
    fingerprint?: string;
  };
}

/** For `compact`: who asks for a smaller context, and how small. */
export interface CompactParams extends SessionRef, HostAdded {
  /**
   * Absolute path of the transcript (JSONL). Absent: the host keeps no file; an engine that needs
   * one says so in `reason`.
   */
  sessionFile?: string;
  /** Whose session it is. Absent: `runtimeContext.agentId`, else `sessionTarget.agentId`. */
  agentId?: string;
  /** Tokens the context shall fit into. Absent: `runtimeContext.tokenBudget`, else not known. */
  tokenBudget?: number;
  /** True: compact although no threshold is reached. Absent: false. */
  force?: boolean;
  /**
   * Tokens the context is believed to hold. Absent: `runtimeContext.currentTokenCount`, else
   * unknown.
   */
  currentTokenCount?: number;
  /**
   * "threshold": down to where the engine would stop by itself, as `/compact` asks. Absent:
   * "budget", so that it fits into `tokenBudget`.
   */
  compactionTarget?: "budget" | "threshold";
  /** What a person asked to keep in the summary. Absent: nothing in particular. */
  customInstructions?: string;
  /** Fires when the work must stop: a cancelled run, the time bound. Absent: it never must. */
  abortSignal?: AbortSignal;
}

/**
 * Why a compaction did nothing, or less than a summary by the model. Programs act on the code,
 * people read `reason`. Given `compacted: false`: "no-conversation" nobody said anything yet ·
 * "nothing-to-compact" what there is, is kept anyway · "no-gain" the context would not shrink ·
 * "no-room" system prompt and tools alone fill the window · "busy" another compaction runs ·
 * "session-moved" the branch changed meanwhile · "not-written" the storage failed · "no-built-in"
 * this host has none · "failed" the engine threw · "timed-out" it did not finish within its bound.
 * Given `compacted: true`: "pruned-only" only old tool output was cleared · "weaker-summary" the
 * model's summary was not usable in full.
 */
export type CompactCode =
  | "no-conversation"
  | "nothing-to-compact"
  | "no-gain"
  | "no-room"
  | "busy"
  | "session-moved"
  | "not-written"
  | "no-built-in"
  | "failed"
  | "timed-out"
  | "pruned-only"
  | "weaker-summary";

/** What `compact` did; an expected failure is a result too. */
export interface CompactResult {
  /** False: it should have worked and did not; `reason` says why. */
  ok: boolean;
  /**
   * True promises that the next assembly is smaller. `ok: true, compacted: false` = nothing to do.
   */
  compacted: boolean;
  /** For people, one sentence or less. Absent: none. */
  reason?: string;
  /**
   * What programs may act on; any engine may leave it out, and one does that does it later, in its
   * background maintenance. Absent: the engine gave none.
   */
  code?: CompactCode;
  /** What was done. Absent: nothing was, or the engine does not tell. */
  result?: {
    /**
     * The text that stands for what was compacted. Absent: there is none, or it is kept elsewhere.
     */
    summary?: string;
    /** Entry id of the oldest message still shown as it is. Absent: not told. */
    firstKeptEntryId?: string;
    /** Tokens of the context before. */
    tokensBefore: number;
    /** Tokens of the context after. Absent: not counted. */
    tokensAfter?: number;
    /** Anything a program may want to know, for the turn report. Absent: none. */
    details?: unknown;
    /**
     * The transcript the session moved to. Absent: `sessionTarget` names it, else it did not move.
     */
    sessionId?: string;
    /** Where that transcript is stored; names the same id. Absent: where the present one is. */
    sessionTarget?: SessionTarget;
    /** Its file; newer hosts deprecate this. Absent: the host derives it from the id. */
    sessionFile?: string;
  };
}

/** For `prepareSubagentSpawn`: a child session about to start. */
export interface PrepareSubagentSpawnParams {
  /** Stable name of the session that spawns. */
  parentSessionKey: string;
  /** Stable name of the session to come. */
  childSessionKey: string;
  /** "fork": the child starts with the parent's history. Absent: "isolated". */
  contextMode?: "isolated" | "fork";
  /** The parent's current transcript. Absent: not known. */
  parentSessionId?: string;
  /** Absolute path of that transcript. Absent: not known, or there is none. */
  parentSessionFile?: string;
  /** The child's first transcript. Absent: not chosen yet. */
  childSessionId?: string;
  /** Absolute path of that transcript; for a fork the copy. Absent: it does not exist yet. */
  childSessionFile?: string;
  /** How long the child may run, ms. Absent: without limit. */
  ttlMs?: number;
}

/** What `prepareSubagentSpawn` did, and the way back. */
export interface SubagentPreparation {
  /** Called at most once, when anything after the preparation fails. */
  rollback: () => void | Promise<void>;
}

/** For `onSubagentEnded`: which child, and how it ended. */
export interface SubagentEndedParams {
  /** Stable name of the session that ended. */
  childSessionKey: string;
  /**
   * "completed" it ended and its session is kept · "deleted" it ended and its session goes ·
   * "swept" nobody knew of it any more · "released" the record of its run was given up.
   */
  reason: "deleted" | "completed" | "swept" | "released";
}

/** For `commitTurn`: one accepted turn of the durable lifecycle. */
export interface CommitTurnParams extends SessionRef, HostAdded {
  /** Equals `admission.logicalTurnId`; the same key is the same turn. */
  advancementKey: string;
  /** The user entry that began the turn. */
  admission: TurnAdmission;
  /** The last entry of the turn. */
  terminal: TranscriptEntryAnchor;
  /** Only this turn, from the admitted user entry to the terminal entry, both included. */
  messages: AgentMessage[];
  /** As in `IngestParams`, for the whole turn. Absent: false. */
  isHeartbeat?: boolean;
}

/** Whether `commitTurn` recorded it now or had it already. */
export interface CommitTurnResult {
  /** "duplicate": this key was recorded before, and nothing was recorded now. */
  status: "committed" | "duplicate";
}
