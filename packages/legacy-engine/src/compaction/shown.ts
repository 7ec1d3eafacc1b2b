// What a compaction sees of a context, as requests show it, and how large each message is.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { Steps } from "@clew/plugin-sdk/host";
import { estimateMessage, estimateMessageSteps, type TokenEstimate } from "@clew/plugin-sdk/tokens";
import { capToolResultSteps } from "@clew/plugin-sdk/transcript";
import { LIMITS } from "./limits.ts";

/** How many tokens a message has, and how few or many it may have. */
export type CountTokens = (message: AgentMessage) => TokenEstimate;

/** Messages, and their tokens in step with them. */
export interface Sized {
  readonly messages: readonly AgentMessage[];
  readonly tokens: readonly TokenEstimate[];
  /** All of them. */
  readonly total: TokenEstimate;
}

/** Counting a message for the first time means reading it: a step for each. */
export function* sizeSteps(messages: readonly AgentMessage[], count: CountTokens): Steps<Sized> {
  const tokens: TokenEstimate[] = [];
  let [estimate, low, high] = [0, 0, 0];
  for (const message of messages) {
    yield;
    const one = count === estimateMessage ? yield* estimateMessageSteps(message) : count(message);
    tokens.push(one);
    estimate += one.estimate;
    low += one.low;
    high += one.high;
  }
  return { messages, tokens, total: { estimate, low, high } };
}

/** The same with long tool results as every request shows them. `contextWindow`: tokens. */
export function* shownSteps(
  messages: readonly AgentMessage[],
  contextWindow: number,
  count: CountTokens,
): Steps<Sized> {
  const window = contextWindow > 0 ? contextWindow : LIMITS.defaultContextTokens;
  return yield* sizeSteps(yield* capToolResultSteps(messages, window), count);
}
