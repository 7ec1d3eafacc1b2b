// What a host passes in to run one turn, and what it gets back.
import type {
  AgentMessage,
  AssistantMessage,
  ErrorCode,
  ToolCallBlock,
  UserMessage,
} from "@clew/plugin-sdk/core";
import type { ModelRef } from "@clew/plugin-sdk/host";
import { DEFAULT_RESERVE_TOKENS } from "@clew/plugin-sdk/host";
import type { SessionPruneSettings } from "@clew/plugin-sdk/transcript";
import type { LlmPolicy } from "../engine/llm.ts";
import type { ResolvedEngine } from "../engine/resolve.ts";
import type { HostPorts } from "../ports.ts";
import type { FailureKind, ReportParts, TurnReport } from "../report.ts";
import type { SystemPart } from "../request/request-items.ts";
import type { SessionState } from "../session/session-state.ts";

export interface TurnSettings {
  /** Tokens held back for the reply, at most a quarter of the window; 0 = none. Default 20,000. */
  reserveTokens: number;
  /**
   * Measured / estimated tokens of this model, as the host has learned it: corrects what no
   * provider has counted yet.
   */
  tokenRatio: number;
  /** Newest user turns kept before assembly; undefined = all. */
  historyLimit: number | undefined;
  /** Model calls in one turn, so that a looping model ends. */
  maxModelCalls: number;
  citationsMode: "auto" | "on" | "off" | undefined;
  /** False: no compaction by threshold; overflow recovery and /compact remain. */
  autoCompaction: boolean;
  /** Also check between model calls of a turn whether the next request fits. */
  midTurnPrecheck: boolean;
  /** `agents.defaults.contextPruning`; off unless its mode is set. */
  sessionPrune: Partial<SessionPruneSettings> | undefined;
  /** How long a turn waits for the session's background maintenance before it goes on, ms. */
  maintenanceWaitMs: number;
}

export const DEFAULT_TURN_SETTINGS: TurnSettings = {
  reserveTokens: DEFAULT_RESERVE_TOKENS,
  tokenRatio: 1,
  historyLimit: undefined,
  maxModelCalls: 200,
  citationsMode: undefined,
  autoCompaction: true,
  midTurnPrecheck: false,
  sessionPrune: undefined,
  maintenanceWaitMs: 10_000,
};

/**
 * What hooks add to a prompt; it goes to the model only, the transcript keeps what the person sent.
 */
export interface PromptAdditions {
  systemPrompt?: string;
  prependContext?: string;
  appendContext?: string;
  prependSystemContext?: string;
  appendSystemContext?: string;
  toolsAllow?: string[];
}

export interface TurnRequest {
  engine: ResolvedEngine;
  ports: HostPorts;
  state: SessionState;
  model: ModelRef;
  /** "provider/id" as the person asked for it; default: the model's own. */
  requestedModel?: string;
  systemPrompt: readonly SystemPart[];
  prompt: Omit<UserMessage, "role">;
  /** Default "user"; a heartbeat is passed to engines as `isHeartbeat`. */
  kind?: "user" | "heartbeat" | "cron";
  settings?: Partial<TurnSettings>;
  /** Called after assembly and before the first model call. */
  beforePromptBuild?: (context: {
    prompt: string;
    messages: readonly AgentMessage[];
  }) => Promise<PromptAdditions>;
  /** Facts for engines' `runtimeContext`, merged under what the host itself knows. */
  runtimeFacts?: Record<string, unknown>;
  /** What the operator lets the engine's own model calls do. */
  llmPolicy?: LlmPolicy;
  signal?: AbortSignal;
  onEvent?: (event: TurnEvent) => void;
}

/** What a person watching the turn is told, in order. */
export type TurnEvent =
  | { type: "accepted"; entryId: string }
  | { type: "text"; delta: string }
  | { type: "thinking"; delta: string }
  | { type: "tool_start"; call: ToolCallBlock }
  | { type: "tool_end"; callId: string; name: string; isError: boolean }
  | { type: "message"; entryId: string; message: AgentMessage }
  | { type: "notice"; text: string };

export interface TurnResult {
  outcome: TurnReport["outcome"];
  /** The accepted reply; null when the turn failed or was aborted. */
  reply: AssistantMessage | null;
  error: TurnError | null;
  report: TurnReport;
  /** Contents the report names by hash. */
  parts: ReportParts;
}

/** Why a turn has no reply, as data and as one sentence. */
export interface TurnError {
  kind: FailureKind;
  /** The error's code in docs/errors.md. Default: it had none. */
  code?: ErrorCode;
  message: string;
}
