// The token estimate of a message list, at the cost of what changed since the last one.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage, type TokenEstimate } from "@clew/plugin-sdk/tokens";
import { type SharedPrefix, sharedPrefix } from "./shared-prefix.ts";

const NOTHING: TokenEstimate = { estimate: 0, low: 0, high: 0 };

/** Remembers the last list it summed; private to one session. */
export interface TokenSums {
  /**
   * The estimate of all `messages`; leading ones that are the same objects as last time
   * are not looked at again.
   */
  total(messages: readonly AgentMessage[]): TokenEstimate;
}

export function createTokenSums(prefixOf: SharedPrefix = sharedPrefix): TokenSums {
  let last: readonly AgentMessage[] = [];
  // running[i] is the estimate of messages 0..i of `last`.
  const running: TokenEstimate[] = [];
  return {
    total(messages) {
      const shared = prefixOf(messages, last);
      running.length = shared;
      let sum = running[shared - 1] ?? NOTHING;
      for (let index = shared; index < messages.length; index++) {
        const { estimate, low, high } = estimateMessage(messages[index]!);
        sum = { estimate: sum.estimate + estimate, low: sum.low + low, high: sum.high + high };
        running.push(sum);
      }
      last = messages;
      return sum;
    },
  };
}
