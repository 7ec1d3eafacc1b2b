// How large a request is, from the provider's last count and estimates since.
import type { AgentMessage, Usage } from "@clew/plugin-sdk/core";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import type { RequestSize } from "./precheck.ts";
import type { SharedPrefix } from "./shared-prefix.ts";
import type { TokenSums } from "./token-sums.ts";

/** A request whose tokens the provider counted. */
export interface Measurement {
  /** What was sent. */
  messages: readonly AgentMessage[];
  /** What came back. */
  reply: AgentMessage;
  /** Tokens of prompt and reply. */
  tokens: number;
}

/** What a session remembers of its requests' sizes. */
export interface RequestSizes {
  requestSums: TokenSums;
  measurement: Measurement | undefined;
  prefixOf: SharedPrefix;
}

/** Usage that can be relied on: a successful call with a positive count. */
export function measure(
  messages: readonly AgentMessage[],
  reply: AgentMessage,
  usage: Usage | undefined,
): Measurement | undefined {
  if (usage === undefined) return undefined;
  const tokens = promptTokensOf(usage) + usage.output;
  return tokens > 0 ? { messages, reply, tokens } : undefined;
}

/**
 * The size of `messages`; the measurement counts only when they start with
 * exactly what was measured.
 */
export function sizeOf(
  { requestSums, measurement, prefixOf }: RequestSizes,
  messages: readonly AgentMessage[],
): RequestSize {
  const total = requestSums.total(messages);
  const counted = measurement?.messages.length ?? 0;
  if (
    measurement === undefined ||
    counted === 0 ||
    prefixOf(messages, measurement.messages) < counted
  )
    return { messages: total, measured: null };
  const from = messages[counted] === measurement.reply ? counted + 1 : counted;
  return {
    messages: total,
    measured: { tokens: measurement.tokens, after: estimateMessages(messages.slice(from)) },
  };
}
