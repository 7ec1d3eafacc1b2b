// How large a request is, from the provider's last count and estimates since.
import { type AgentMessage, messageId, type Usage } from "@clew/plugin-sdk/core";
import { ESTIMATE_MARGIN, type MessageTokens, promptTokensOf } from "@clew/plugin-sdk/host";
import { estimateMessage, estimateMessages } from "@clew/plugin-sdk/tokens";
import { saysTheSame } from "./says-the-same.ts";
import type { SharedPrefix } from "./shared-prefix.ts";
import type { TokenSums } from "./token-sums.ts";

/** A request whose tokens the provider counted. */
export type Measurement = MadeMeasurement | RecalledMeasurement;

/** One that was made since the session was opened. */
interface MadeMeasurement {
  /** What was sent. */
  messages: readonly AgentMessage[];
  /** Id of what came back, once it is stored; undefined = it is not yet. */
  replyId: string | undefined;
  /** Tokens of prompt and reply. */
  tokens: number;
}

/** One that was made before, as far as it is on record. */
interface RecalledMeasurement {
  /** Ids of its messages, and of the reply that was stored; undefined = that one has none. */
  ids: readonly (string | undefined)[];
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
  usage: Usage | undefined,
): MadeMeasurement | undefined {
  if (usage === undefined) return undefined;
  const tokens = promptTokensOf(usage) + usage.output;
  return tokens > 0 ? { messages, replyId: undefined, tokens } : undefined;
}

/**
 * A request that the provider took although it does not fit: what it counted is what the next one
 * starts with. Undefined: it was refused, or nothing was counted.
 */
export function measureTaken(
  messages: readonly AgentMessage[],
  usage: Usage | undefined,
): MadeMeasurement | undefined {
  const tokens = usage === undefined ? 0 : promptTokensOf(usage);
  return tokens > 0 ? { messages, replyId: undefined, tokens } : undefined;
}

/** Of the prompt budget: what a smaller request took more than estimated tells of no proportion. */
const TELLING_SHARE = 0.1;

/**
 * Estimated tokens by which an engine that counts by estimates must stay below its budget, so that
 * what it fills is counted as no more than `promptBudget`. A request of some size that was counted
 * as twice its estimate makes the budget half: as a difference it would leave nothing after a large
 * request and everything after a small one.
 */
export function excessOf(
  { requestSums, measurement }: RequestSizes,
  reply: AgentMessage | undefined,
  {
    fixedTokens,
    tokenRatio,
    promptBudget,
  }: { fixedTokens: number; tokenRatio: number; promptBudget: number },
): number {
  if (measurement === undefined || isRecalled(measurement)) return 0;
  const ratio = Math.max(1, tokenRatio);
  const sent = requestSums.total(measurement.messages).estimate;
  const replied = reply === undefined ? 0 : estimateMessage(reply).estimate;
  const expected = Math.floor(tokenRatio * (sent + replied + ESTIMATE_MARGIN * fixedTokens));
  const beyond = measurement.tokens - expected;
  if (beyond <= 0) return 0;
  const isTelling = expected >= TELLING_SHARE * promptBudget;
  return (isTelling ? promptBudget * (beyond / measurement.tokens) : beyond) / ratio;
}

/**
 * `messageTokenSteps` of what is capped already, at the cost of what is new; the measurement counts
 * only when they start with exactly what was measured.
 */
export function sizeOf(
  { requestSums, measurement, prefixOf }: RequestSizes,
  messages: readonly AgentMessage[],
): MessageTokens {
  const { estimate } = requestSums.total(messages);
  const from = measurement === undefined ? 0 : countedIn(measurement, messages, prefixOf);
  if (measurement === undefined || from === 0) return { estimate, counted: null };
  return {
    estimate,
    counted: {
      tokens: measurement.tokens,
      after: estimateMessages(messages.slice(from)).estimate,
    },
  };
}

/** How many leading messages the count is of; 0 = they do not start with what was counted. */
function countedIn(
  measurement: Measurement,
  messages: readonly AgentMessage[],
  prefixOf: SharedPrefix,
): number {
  if (isRecalled(measurement)) {
    const { ids } = measurement;
    const isSame = (id: string | undefined, index: number) => {
      const message = messages[index];
      return id !== undefined && message !== undefined && messageId(message) === id;
    };
    return ids.every(isSame) ? ids.length : 0;
  }
  const counted = measurement.messages.length;
  if (counted === 0 || messages.length < counted) return 0;
  // Behind a compaction what is remembered of older replies changes, and not what they say.
  for (let at = prefixOf(messages, measurement.messages); at < counted; at++)
    if (!saysTheSame(messages[at]!, measurement.messages[at]!)) return 0;
  const { replyId } = measurement;
  const next = messages[counted];
  const isReply = next !== undefined && replyId !== undefined && messageId(next) === replyId;
  return isReply ? counted + 1 : counted;
}

const isRecalled = (measurement: Measurement): measurement is RecalledMeasurement =>
  "ids" in measurement;
