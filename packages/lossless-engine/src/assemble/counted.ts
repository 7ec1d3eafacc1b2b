// Counts messages as a provider counted them, where its replies tell.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import type { TokenEstimate } from "@clew/plugin-sdk/tokens";
import { blocksOf } from "@clew/plugin-sdk/transcript";
import { type Count, sum } from "./count.ts";

/** What is counted, and how far back. */
export interface Counting {
  /** Oldest first. */
  readonly messages: readonly AgentMessage[];
  /** Estimates; they stand where nothing was counted. */
  readonly count: Count;
  /** Counted tokens that one of the budget stands for. */
  readonly ratio: number;
  /** Tokens above which a request may have been cut. Nothing further back is looked at either. */
  readonly most: number;
}

/** What replies tell of the requests that they answered. */
export interface Counted {
  readonly count: Count;
  /** The newest request that was counted. Undefined: none was. */
  readonly newest: CountedRequest | undefined;
}

/** A request that a provider counted. */
export interface CountedRequest {
  /** Index of its reply. */
  readonly reply: number;
  /** All that it held, also what no engine chooses. */
  readonly tokens: number;
}

/**
 * What stands between two replies was counted, where the second request was the first one and these
 * messages: its prompt is larger by their tokens. Where something was left out between the two, or
 * what is fixed grew, the difference is none that these messages can have, and estimates stand.
 */
export function countedBy({ messages, count, ratio, most }: Counting): Counted {
  const counted = new Map<AgentMessage, TokenEstimate>();
  let newest: CountedRequest | undefined;
  let later: CountedRequest | undefined;
  let seen = 0;
  for (let at = messages.length - 1; at >= 0 && seen <= most; at--) {
    const message = messages[at]!;
    seen += count(message).low;
    if (message.role !== "assistant") continue;
    const tokens = message.usage === undefined ? 0 : promptTokensOf(message.usage) / ratio;
    if (later !== undefined && tokens > 0) {
      const between = messages.slice(at, later.reply);
      const estimate = sum(between, count);
      const { low } = sum(between.map(withoutThinking), count);
      const mayBeCut = tokens + estimate.high > most;
      const share = mayBeCut ? undefined : shareOf(later.tokens - tokens, { ...estimate, low });
      if (share !== undefined)
        for (const one of between) counted.set(one, times(count(one).estimate, share));
    }
    later = tokens > 0 ? { reply: at, tokens } : undefined;
    newest ??= later;
  }
  return { count: (message) => counted.get(message) ?? count(message), newest };
}

/** Of the estimate, never off by more than its bounds. Undefined: it was something else. */
const shareOf = (tokens: number, { estimate, low, high }: TokenEstimate): number | undefined =>
  tokens >= low && tokens <= high && estimate > 0 ? tokens / estimate : undefined;

/** Hosts leave out what was thought in earlier turns. */
function withoutThinking(message: AgentMessage): AgentMessage {
  if (message.role !== "assistant") return message;
  const blocks = blocksOf(message.content);
  const content = blocks.filter(({ type }) => type !== "thinking");
  return content.length === blocks.length ? message : ({ ...message, content } as AgentMessage);
}

function times(estimate: number, share: number): TokenEstimate {
  const tokens = Math.ceil(estimate * share);
  return { estimate: tokens, low: tokens, high: tokens };
}
