// What a host tells an engine about the run that it serves.
import type { AgentMessage } from "./message.ts";
import type { SessionTarget } from "./session.ts";

/** Why a run is not as it should be (contract §1.4); free text is mapped to one of these. */
export type ReasonCode =
  | "provider_timeout"
  | "provider_unavailable"
  | "rate_limited"
  | "context_overflow"
  | "runtime_unavailable"
  | "unknown";

/** One run's settings (contract §1.4). Every group is always there; null = not known. Frozen. */
export interface RuntimeSettings {
  /** Another number means another shape. */
  readonly schemaVersion: 1;
  /** What runs the agent; `host` is this literal in every host of the contract. */
  readonly runtime: {
    readonly host: "openclaw";
    /** "degraded": something is wrong. "fallback": another model than the requested one answers. */
    readonly mode: "normal" | "fallback" | "degraded";
    readonly harnessId: string | null;
    readonly runtimeId: string | null;
  };
  /** Which model was asked for and which answers, both "provider/model". */
  readonly model: {
    readonly requested: string | null;
    readonly resolved: string | null;
    readonly provider: string | null;
    readonly family: string | null;
  };
  /** Which engine the host selected, and whether the operator chose it. */
  readonly contextEngineSelection: {
    readonly selectedId: string | null;
    readonly source: "configured" | "default" | "unknown";
  };
  /** The host by name; `label` is what its error messages say. */
  readonly executionHost: { readonly id: string | null; readonly label: string | null };
  /** Tokens. In the assemble before the prompt `maxOutputTokens` is the compaction reserve. */
  readonly limits: {
    readonly promptTokenBudget: number | null;
    readonly maxOutputTokens: number | null;
  };
  /** Why `runtime.mode` is what it is. */
  readonly diagnostics: {
    readonly fallbackReason: ReasonCode | null;
    readonly degradedReason: ReasonCode | null;
  };
}

/** One model call an engine asks its host to make (contract §1.5). */
export interface LlmCompleteParams {
  /** Plain texts; "system" ones are joined to `systemPrompt`. */
  messages: { role: "system" | "user" | "assistant"; content: string }[];
  /**
   * "provider/model"; needs the operator's `llm.allowModelOverride`. Absent: the session's model.
   */
  model?: string;
  /** Output tokens. Absent: the provider's own limit. */
  maxTokens?: number;
  /** As the provider understands it. Absent: the provider's default. */
  temperature?: number;
  /** Absent: none but the "system" messages. */
  systemPrompt?: string;
  /**
   * How much the model shall think, in the host's words. Absent: the host decides; Clew ignores it.
   */
  reasoning?: unknown;
  /** What the call is for, in logs and audits. Absent: named after the method that runs. */
  purpose?: string;
  /** Must be the session's agent, or the call is refused. Absent: that agent. */
  agentId?: string;
  /** Ends the call. Absent: only the run's own end does. */
  signal?: AbortSignal;
  /** A schema the answer must satisfy. Absent: plain text; Clew ignores it. */
  responseFormat?: unknown;
}

/** What came back, and what it cost. */
export interface LlmCompleteResult {
  /** All text of the answer, without thinking. */
  text: string;
  /** Who answered. */
  provider: string;
  /** The model's id, without its provider. */
  model: string;
  /** On whose behalf. */
  agentId: string;
  /** As the provider billed it; all zero when it did not say. Tokens and US dollars. */
  usage: {
    inputTokens: number;
    outputTokens: number;
    cacheReadTokens: number;
    cacheWriteTokens: number;
    totalTokens: number;
    costUsd: number;
  };
  /** Who asked and what for, as the host logs it. */
  audit: {
    caller: { kind: string; id: string };
    /** Absent: the caller named none and the host neither. */
    purpose?: string;
    /** Absent: the call belongs to no session. */
    sessionKey?: string;
  };
  /** The model the provider says it used. Absent: it did not say. */
  responseModel?: string;
  /** Why the answer ended, e.g. "stop" or "length". Absent: not known. */
  stopReason?: string;
  /** Host-specific facts of the call. Absent: none. */
  execution?: unknown;
}

/** What is known of the provider's prompt cache for this session. */
export interface PromptCacheInfo {
  /** How long the provider was asked to keep it. Absent: not known. */
  retention?: "none" | "short" | "long" | "in_memory" | "24h";
  /** Tokens the last successful call was billed for. Absent: there was none, or it was not said. */
  lastCallUsage?: {
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
    total: number;
    /** From hosts that give it; Clew does not. Absent: not given. */
    contextUsage?: number;
  };
  /** How the last call's cache use compares to the one before. Absent: not compared. */
  observation?: {
    /** True: less was read from the cache than could have been. */
    broke: boolean;
    /** Tokens read before. Absent: not known. */
    previousCacheRead?: number;
    /** Tokens read now. Absent: not known. */
    cacheRead?: number;
    /** What differed between the two requests. Absent: not known. */
    changes?: { code: string; detail: string }[];
  };
  /** When the cache was last used, ms since the epoch. Absent: not known. */
  lastCacheTouchAt?: number;
  /** When the provider will drop it, ms since the epoch. Absent: not known. */
  expiresAt?: number;
}

/** Which stored messages shall read differently from now on. */
export interface TranscriptRewriteRequest {
  /**
   * By entry id; ids that are blank or not on the branch are passed over. A replacement is still
   * the message it replaces: the host gives it that one's id and whatever else it wrote on it. One
   * that is no message is refused, and nothing is written.
   */
  replacements: { entryId: string; message: AgentMessage }[];
  /**
   * Entry ids that may be appended again behind the first replacement; another one there means that
   * the transcript moved, and the rewrite is refused. Absent: any may.
   */
  allowedRewriteSuffixEntryIds?: string[];
}

/** What a rewrite did; the originals stay in the file, on the branch that was left. */
export interface TranscriptRewriteResult {
  /** False: nothing differs now; `reason` says why. */
  changed: boolean;
  /** By how many bytes the replaced messages are smaller as JSON; never negative. */
  bytesFreed: number;
  /** How many messages were replaced. */
  rewrittenEntries: number;
  /** For people: why nothing changed. Absent: something did. */
  reason?: string;
}

/**
 * Helpers and facts of one run (contract §1.5). A bag: hosts add keys, engines tolerate absence.
 */
export interface RuntimeContext {
  /** Absolute path of the folder tools work in. Absent: not known. */
  cwd?: string;
  /**
   * True only in background maintenance. The view is smaller once maintenance may do what was put
   * off. Absent: false, expensive work must wait.
   */
  allowDeferredCompactionExecution?: boolean;
  /** Tokens an assembly may use. Absent: not known. */
  tokenBudget?: number;
  /**
   * How many of the model's own tokens one of `tokenBudget` stands for: what engines count by
   * estimates, providers count as more. At least 1. Absent: 1.
   */
  tokenRatio?: number;
  /** Prompt tokens of the last successful call, cache included. Absent: nothing was counted. */
  currentTokenCount?: number;
  /** The harness that runs the agent. Absent: the host's own loop does. */
  agentHarnessId?: string;
  /** What the provider's cache may hold. Absent: nothing is known. */
  promptCache?: PromptCacheInfo;
  /** How the transcript is stored. Absent: "jsonl". */
  transcriptStorage?: { kind: "jsonl" | "sqlite" };
  /** Where the session is stored. Absent: see the method's own parameters. */
  sessionTarget?: SessionTarget;
  /**
   * Replaces stored messages; throws when the transcript moved meanwhile. Absent: not now, as
   * before a turn.
   */
  rewriteTranscriptEntries?: (
    request: TranscriptRewriteRequest,
  ) => Promise<TranscriptRewriteResult>;
  /**
   * Model calls under the operator's policy, until the method has answered that it is lent to; a
   * later one throws. Absent: this host makes none for engines.
   */
  llm?: { complete: (params: LlmCompleteParams) => Promise<LlmCompleteResult> };
  /** Whatever else the host knows of the run; check before use. */
  [key: string]: unknown;
}
