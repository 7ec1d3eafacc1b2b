// Estimates the tokens of messages as a model of a window is shown them.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage, type TokenEstimate } from "@clew/plugin-sdk/tokens";
import { capToolResults } from "@clew/plugin-sdk/transcript";

/** Tokens of a message, as a model of this window is shown it. Undefined: not known, then whole. */
export type Count = (message: AgentMessage) => TokenEstimate;

/** Hosts shorten long tool results by the window. */
export const counter =
  (contextWindow: number | undefined): Count =>
  (message) =>
    estimateMessage(
      contextWindow === undefined || message.role !== "toolResult"
        ? message
        : capToolResults([message], contextWindow)[0]!,
    );

/** Of all of them. */
export function sum(messages: readonly AgentMessage[], count: Count): TokenEstimate {
  let [estimate, low, high] = [0, 0, 0];
  for (const message of messages) {
    const one = count(message);
    estimate += one.estimate;
    low += one.low;
    high += one.high;
  }
  return { estimate, low, high };
}
