// The token estimate of a message list, at the cost of what changed since the list before it.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage, type TokenEstimate } from "@clew/plugin-sdk/tokens";

export interface TokenSum {
  messages: readonly AgentMessage[];
  /** `running[i]` is the estimate of messages 0..i. */
  running: readonly TokenEstimate[];
}

const NOTHING: TokenEstimate = { estimate: 0, low: 0, high: 0 };

/** Sums estimates; the leading messages that are the same objects as in `previous` are not looked at again. */
export function sumTokens(messages: readonly AgentMessage[], previous?: TokenSum): TokenSum {
  const shared = sharedPrefix(messages, previous?.messages ?? []);
  const running = previous === undefined ? [] : previous.running.slice(0, shared);
  let sum = running.at(-1) ?? NOTHING;
  for (let index = shared; index < messages.length; index++) {
    const { estimate, low, high } = estimateMessage(messages[index]!);
    sum = { estimate: sum.estimate + estimate, low: sum.low + low, high: sum.high + high };
    running.push(sum);
  }
  return { messages, running };
}

export const totalOf = (sum: TokenSum): TokenEstimate => sum.running.at(-1) ?? NOTHING;

/** How many leading elements of the two lists are the same objects. */
export function sharedPrefix<T>(left: readonly T[], right: readonly T[]): number {
  const limit = Math.min(left.length, right.length);
  let index = 0;
  while (index < limit && left[index] === right[index]) index++;
  return index;
}
