// What a host tells an engine about the run that it serves.
import type { AgentMessage } from "./message.ts";
import type { SessionTarget } from "./session.ts";

export type ReasonCode =
  | "provider_timeout"
  | "provider_unavailable"
  | "rate_limited"
  | "context_overflow"
  | "runtime_unavailable"
  | "unknown";

/**
 * One run's settings (contract §1.4). Every group is always there; null =
 * known to be unknown. Frozen.
 */
export interface RuntimeSettings {
  readonly schemaVersion: 1;
  readonly runtime: {
    readonly host: "openclaw";
    readonly mode: "normal" | "fallback" | "degraded";
    readonly harnessId: string | null;
    readonly runtimeId: string | null;
  };
  readonly model: {
    readonly requested: string | null;
    readonly resolved: string | null;
    readonly provider: string | null;
    readonly family: string | null;
  };
  readonly contextEngineSelection: {
    readonly selectedId: string | null;
    readonly source: "configured" | "default" | "unknown";
  };
  readonly executionHost: { readonly id: string | null; readonly label: string | null };
  /** Tokens. In the assemble before the prompt `maxOutputTokens` is the compaction reserve. */
  readonly limits: {
    readonly promptTokenBudget: number | null;
    readonly maxOutputTokens: number | null;
  };
  readonly diagnostics: {
    readonly fallbackReason: ReasonCode | null;
    readonly degradedReason: ReasonCode | null;
  };
}

export interface LlmCompleteParams {
  messages: { role: "system" | "user" | "assistant"; content: string }[];
  /** "provider/model"; needs the operator's `llm.allowModelOverride`. */
  model?: string;
  /** Output tokens. */
  maxTokens?: number;
  temperature?: number;
  systemPrompt?: string;
  reasoning?: unknown;
  purpose?: string;
  agentId?: string;
  signal?: AbortSignal;
  responseFormat?: unknown;
}

export interface LlmCompleteResult {
  text: string;
  provider: string;
  model: string;
  agentId: string;
  usage: {
    inputTokens: number;
    outputTokens: number;
    cacheReadTokens: number;
    cacheWriteTokens: number;
    totalTokens: number;
    costUsd: number;
  };
  audit: { caller: { kind: string; id: string }; purpose?: string; sessionKey?: string };
  responseModel?: string;
  stopReason?: string;
  execution?: unknown;
}

export interface PromptCacheInfo {
  retention?: "none" | "short" | "long" | "in_memory" | "24h";
  lastCallUsage?: {
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
    total: number;
    contextUsage?: number;
  };
  observation?: {
    broke: boolean;
    previousCacheRead?: number;
    cacheRead?: number;
    changes?: { code: string; detail: string }[];
  };
  /** ms since the epoch. */
  lastCacheTouchAt?: number;
  expiresAt?: number;
}

export interface TranscriptRewriteRequest {
  replacements: { entryId: string; message: AgentMessage }[];
  allowedRewriteSuffixEntryIds?: string[];
}

export interface TranscriptRewriteResult {
  changed: boolean;
  bytesFreed: number;
  rewrittenEntries: number;
  reason?: string;
}

/**
 * Helpers and facts of one run (contract §1.5). A bag: hosts add keys,
 * engines tolerate their absence.
 */
export interface RuntimeContext {
  cwd?: string;
  /** True only in background maintenance. */
  allowDeferredCompactionExecution?: boolean;
  tokenBudget?: number;
  currentTokenCount?: number;
  agentHarnessId?: string;
  promptCache?: PromptCacheInfo;
  transcriptStorage?: { kind: "jsonl" | "sqlite" };
  sessionTarget?: SessionTarget;
  rewriteTranscriptEntries?: (
    request: TranscriptRewriteRequest,
  ) => Promise<TranscriptRewriteResult>;
  llm?: { complete: (params: LlmCompleteParams) => Promise<LlmCompleteResult> };
  [key: string]: unknown;
}
