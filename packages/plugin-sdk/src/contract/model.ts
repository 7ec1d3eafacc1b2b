// One model call as hosts and providers agree on it.
import type { AgentMessage, AssistantMessage, ToolCallBlock, Usage } from "./message.ts";

/** A tool as the model is told of it. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments object. */
  parameters: Record<string, unknown>;
}

/** Which model answers, by which wire, and how much it holds. */
export interface ModelRef {
  provider: string;
  /** Wire protocol, e.g. "openai-completions". */
  api: string;
  id: string;
  /** Tokens of prompt and reply together. */
  contextWindow: number;
  /** Tokens of one reply. */
  maxOutputTokens: number;
  /** False: images are replaced by text before sending. */
  acceptsImages?: boolean;
  reasoning?: boolean;
  /**
   * How long the provider keeps a prompt cached after its last use, ms; absent = not known, or not
   * in a way worth planning for. For predicting cache hits and their cost; it turns nothing on.
   */
  cacheTtlMs?: number;
}

export interface ModelCall {
  model: ModelRef;
  systemPrompt: string;
  messages: readonly AgentMessage[];
  tools: readonly ToolDefinition[];
  /** Tokens; absent = the model's own maximum. */
  maxOutputTokens?: number;
  temperature?: number;
  signal: AbortSignal;
  /** Stable per session: lets a provider route to a warm prompt cache. */
  sessionId?: string;
  /** Told before each repetition of the call: why, and after how many ms it is tried again. */
  onRetry?: (retry: { error: ModelError; delayMs: number }) => void;
}

/** Why a call failed, as data: hosts decide by `kind`, people read `message`. */
export type ModelError = { message: string; status?: number } & (
  | {
      kind: "overflow" /** Tokens the provider counted, when it said so. */;
      observedTokens?: number;
    }
  | { kind: "rate_limited"; retryAfterMs?: number }
  | { kind: "unavailable" }
  | { kind: "timeout" }
  | { kind: "auth" }
  | { kind: "invalid_request" }
  | { kind: "invalid_response" }
  | { kind: "aborted" }
);

/** What a call streams; the last event is `done` or `error`, exactly one of them. */
export type StreamEvent =
  | { type: "text"; delta: string }
  | { type: "thinking"; delta: string }
  | { type: "tool_call"; call: ToolCallBlock }
  | { type: "done"; message: AssistantMessage }
  /** `partial` holds what had arrived, with stopReason "error" or "aborted". */
  | { type: "error"; error: ModelError; partial: AssistantMessage };

export const ZERO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
};
