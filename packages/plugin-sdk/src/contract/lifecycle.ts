// The parameters and results of each lifecycle method of a context engine.
import type { AgentMessage } from "./message.ts";
import type { RuntimeContext, RuntimeSettings, TranscriptRewriteResult } from "./runtime.ts";
import type { SessionRef, SessionTarget, TranscriptEntryAnchor, TurnAdmission } from "./session.ts";

interface HostAdded {
  sessionTarget?: SessionTarget;
  runtimeSettings?: RuntimeSettings;
  runtimeContext?: RuntimeContext;
}

export interface BootstrapParams extends SessionRef, HostAdded {
  sessionFile: string;
}
export interface BootstrapResult {
  bootstrapped: boolean;
  importedMessages?: number;
  reason?: string;
}

export interface MaintainParams extends SessionRef, HostAdded {
  sessionFile: string;
  abortSignal?: AbortSignal;
}
export type MaintainResult = TranscriptRewriteResult;

export interface IngestParams extends SessionRef {
  message: AgentMessage;
  isHeartbeat?: boolean;
}
export interface IngestResult {
  /** False: a duplicate, or nothing to do. */
  ingested: boolean;
}

export interface IngestBatchParams extends SessionRef {
  messages: AgentMessage[];
  isHeartbeat?: boolean;
}
export interface IngestBatchResult {
  ingestedCount: number;
}

export interface AfterTurnParams extends SessionRef, HostAdded {
  sessionFile: string;
  /** The whole active message list; new ones start at `prePromptMessageCount`. */
  messages: AgentMessage[];
  prePromptMessageCount: number;
  autoCompactionSummary?: string;
  isHeartbeat?: boolean;
  /** Tokens. */
  tokenBudget?: number;
}

export interface AssembleParams extends SessionRef, HostAdded {
  /** History without the current user prompt. */
  messages: AgentMessage[];
  /** Tokens the returned messages may use. */
  tokenBudget?: number;
  availableTools?: Set<string>;
  citationsMode?: "auto" | "on" | "off";
  model?: string;
  /** The current user prompt; the host appends it after the assembly. */
  prompt?: string;
}
export interface AssembleResult {
  messages: AgentMessage[];
  /** Tokens of `messages`; 0 = "not estimated". */
  estimatedTokens: number;
  /** Default "assembled". */
  promptAuthority?: "assembled" | "preassembly_may_overflow";
  systemPromptAddition?: string;
  /** For hosts whose backend keeps its own thread. */
  contextProjection?: {
    mode: "per_turn" | "thread_bootstrap";
    epoch?: string;
    fingerprint?: string;
  };
}

export interface CompactParams extends SessionRef, HostAdded {
  sessionFile: string;
  agentId?: string;
  /** Tokens. */
  tokenBudget?: number;
  force?: boolean;
  /** Tokens the host believes the context holds now. */
  currentTokenCount?: number;
  /** Default "budget". */
  compactionTarget?: "budget" | "threshold";
  customInstructions?: string;
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
export interface CompactResult {
  ok: boolean;
  compacted: boolean;
  /** For people, one sentence or less. Default: none. */
  reason?: string;
  /** What programs may act on; any engine may leave it out. Default: none. */
  code?: CompactCode;
  result?: {
    summary?: string;
    firstKeptEntryId?: string;
    /** Tokens. */
    tokensBefore: number;
    tokensAfter?: number;
    details?: unknown;
    /** Set when the session moved to a successor transcript. */
    sessionId?: string;
    sessionTarget?: SessionTarget;
    /** Deprecated by newer hosts, still read here. */
    sessionFile?: string;
  };
}

export interface PrepareSubagentSpawnParams {
  parentSessionKey: string;
  childSessionKey: string;
  contextMode?: "isolated" | "fork";
  parentSessionId?: string;
  parentSessionFile?: string;
  childSessionId?: string;
  childSessionFile?: string;
  ttlMs?: number;
}
export interface SubagentPreparation {
  /** Called at most once, when anything after the preparation fails. */
  rollback: () => void | Promise<void>;
}

export interface SubagentEndedParams {
  childSessionKey: string;
  reason: "deleted" | "completed" | "swept" | "released";
}

export interface CommitTurnParams extends SessionRef, HostAdded {
  /** Equals `admission.logicalTurnId`; the same key is the same turn. */
  advancementKey: string;
  admission: TurnAdmission;
  terminal: TranscriptEntryAnchor;
  /** Only the accepted turn, from the admitted user entry to the terminal entry, both included. */
  messages: AgentMessage[];
  isHeartbeat?: boolean;
}
export interface CommitTurnResult {
  status: "committed" | "duplicate";
}
