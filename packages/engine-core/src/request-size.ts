// How large a request is: anchored on what the provider counted for the session's last call, estimated after that.
import type { AgentMessage, Usage } from "@clew/plugin-sdk/core";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import type { RequestSize } from "./precheck.ts";
import type { SessionState } from "./session-state.ts";

/** What a provider counted: a request's messages (with system prompt and tools) and the reply to it. */
export interface Measurement {
  messages: readonly AgentMessage[];
  reply: AgentMessage;
  /** Tokens of prompt and reply. */
  tokens: number;
}

/** Usage that can be relied on: a successful call with a positive count. */
export function measure(
  messages: readonly AgentMessage[],
  reply: AgentMessage,
  usage: Usage | undefined,
): Measurement | undefined {
  if (usage === undefined) return undefined;
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
  return tokens > 0 ? { messages, reply, tokens } : undefined;
}

/** The size of `messages`; the measurement counts only when they start with exactly what was measured. */
export function sizeOf(state: SessionState, messages: readonly AgentMessage[]): RequestSize {
  const total = state.requestSums.total(messages);
  const { measurement } = state;
  const counted = measurement?.messages.length ?? 0;
  if (
    measurement === undefined ||
    counted === 0 ||
    state.prefixOf(messages, measurement.messages) < counted
  )
    return { messages: total, measured: null };
  const from = messages[counted] === measurement.reply ? counted + 1 : counted;
  return {
    messages: total,
    measured: { tokens: measurement.tokens, after: estimateMessages(messages.slice(from)) },
  };
}
