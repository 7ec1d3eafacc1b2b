// The shape of the turn report, which records everything that happened in one turn.
import type { CompactCode, ErrorCode, Usage } from "@clew/plugin-sdk/core";
import type { ModelError, PolicyChange } from "@clew/plugin-sdk/host";

/** Where an item of a request comes from. */
export type ItemSource =
  | { kind: "entry"; entryId: string }
  | { kind: "summary"; summaryId: string }
  | { kind: "engine" }
  | { kind: "policy"; rule: string }
  | { kind: "system"; part: string }
  | { kind: "tool-schema"; name: string }
  | { kind: "ledger" };

/** Why an item of a request is there; "prompt" is what the turn answers, "engine" what the engine made. */
export type ItemCode = "system-prompt" | "tool-schema" | "history" | "prompt" | "engine";

/** One thing the model was sent. */
export interface ReportItem {
  source: ItemSource;
  role?: string;
  /** Why it is there, for programs; kept items say why they were first sent. Default: not known. */
  code?: ItemCode;
  /** The same for people: "history", "prompt", "system prompt", "made by the engine", … */
  reason: string;
  /** Estimated tokens. */
  tokens: number;
  /** Content hash; names a part in `parts` when the content is not in the transcript. */
  hash: string;
  /**
   * True: the content is not the entry's own (a policy or the engine changed it); the part named by
   * `hash` holds what was sent.
   */
  changed?: true;
}

export interface ModelCallReport {
  /** Counts this session's model calls in this process, from 0. */
  index: number;
  durationMs: number;
  /** System prompt parts, in order. */
  system: ReportItem[];
  /** Tool schemas, in order. */
  tools: ReportItem[];
  messages: {
    /** Leading items that are the same as in this session's previous call; 0 in a full list. */
    kept: number;
    /** The items after those. */
    items: ReportItem[];
    /** Estimated tokens of all messages, kept ones included. */
    tokens: number;
  };
  /** Hash over model, system, tools and messages; equal requests, equal hashes. */
  requestHash: string;
  policyChanges: PolicyChange[];
  usage: Usage | null;
  stopReason: string | null;
  error: string | null;
  retries: number;
}

/** Why another engine answers than the chosen one. */
export interface EngineFailure {
  /** Engine method, or "resolve", "factory", "contract-validation". */
  operation: string;
  /** For people. */
  reason: string;
  /** What programs may act on. Default: not known. */
  code?: ErrorCode;
}

export interface EngineCallReport {
  method: string;
  durationMs: number;
  outcome: "ok" | "failed" | "fallback" | "timeout" | "aborted";
  detail?: string;
}

export interface BudgetReport {
  /** All in tokens. */
  contextWindow: number;
  reserve: number;
  /** Window − reserve. */
  promptBudget: number;
  /** Estimated system prompt, tools and prompt. */
  fixedTokens: number;
  /** What the engine was told it may use. */
  tokenBudget: number;
  /** The host's estimate of what the engine returned. */
  assembled: { estimate: number; low: number; high: number } | null;
  /** What the engine said; null when it did not. */
  engineEstimate: number | null;
  /**
   * Measured / estimated tokens of this model, where the host has learned it; estimates here
   * are not multiplied by it.
   */
  tokenRatio?: number;
  historyMessages: number;
  assembledMessages: number;
}

export interface CompactionReport {
  trigger: "threshold" | "budget" | "overflow" | "timeout_recovery" | "manual";
  ok: boolean;
  compacted: boolean;
  /** Why it did nothing, or less than it could, for programs. */
  code?: CompactCode;
  /** The same for people. */
  reason: string | null;
  tokensBefore: number | null;
  tokensAfter: number | null;
  durationMs: number;
}

/** Whose failure a turn without a reply is: the model call's, the engine's, or the host's. */
export type FailureKind = ModelError["kind"] | "engine" | "host";

/** One turn, as a versioned JSON value; its size grows with the turn, not with the history. */
export interface TurnReport {
  v: 1;
  turnId: string;
  sessionId: string;
  sessionKey: string;
  /** ISO 8601. */
  startedAt: string;
  durationMs: number;
  /** Time that was neither model, nor tool, nor engine. */
  hostMs: number;
  outcome: "completed" | "failed" | "aborted";
  /** Why it has no reply, for programs: the error's code where it has one, else its kind. */
  code?: FailureKind | ErrorCode;
  /** The same for people. */
  reason: string | null;
  model: { requested: string; resolved: string; api: string };
  engine: {
    /** The slot's value; null = not configured. */
    configured: string | null;
    /** Registered id of the engine that answered. */
    ran: string;
    infoId: string;
    name: string;
    source: "configured" | "default";
    ownsCompaction: boolean;
    /** Why another engine than the configured one ran. */
    degraded: EngineFailure | null;
    /**
     * How the engine would have its assembly enter a backend that keeps its own thread; this host
     * has none and ignores it.
     */
    projection: { mode: string; epoch: string | null } | null;
  };
  lifecycle: "eager" | "durable";
  engineCalls: EngineCallReport[];
  budget: BudgetReport | null;
  promptEntryId: string | null;
  replyEntryId: string | null;
  /** Repairs of the stored history, before assembly. */
  historyChanges: PolicyChange[];
  modelCalls: ModelCallReport[];
  toolCalls: { name: string; durationMs: number; isError: boolean }[];
  compactions: CompactionReport[];
}

/**
 * Contents named by hash that a host stores once: system parts, tool schemas, messages that
 * are in no transcript entry.
 */
export type ReportParts = Record<string, string>;
