// Which newest messages are protected from compaction and eviction.
import type { AgentMessage } from "../contract/message.ts";
import { estimateMessage } from "../tokens/message.ts";
import { atomicGroups } from "./tool-pairs.ts";
import { isUserTurn } from "./turns.ts";

/** How much to protect; the longest wish counts, `maxTokens` limits it. */
export interface FreshTailOptions {
  /** Newest turns. Absent: no wish in turns. */
  turns?: number;
  /** Newest messages. Absent: no wish in messages. */
  messages?: number;
  /** Newest messages whose tokens sum up to at least this. Absent: no wish in tokens. */
  tokens?: number;
  /** No more tokens than this; the newest turn is protected whatever it costs. Absent: no limit. */
  maxTokens?: number;
  /** Tokens of one message. Absent: the estimator's middle value. */
  count?: (message: AgentMessage) => number;
}

/** Where the protected end of a list begins, and what it costs. */
export interface FreshTail {
  /** Index of the first protected message; the list's length when there is none. */
  start: number;
  /** Tokens of the protected messages, as counted. */
  tokens: number;
}

/**
 * The protected end of a list. It always holds the newest turn from its user message on, and never
 * starts between a tool call and its result. Without a user message the newest message and what it
 * is paired with stand for the newest turn.
 */
export function freshTail(messages: readonly AgentMessage[], options: FreshTailOptions): FreshTail {
  const count = options.count ?? ((message: AgentMessage) => estimateMessage(message).estimate);
  let tail: FreshTail = { start: messages.length, tokens: 0 };
  const hasUser = messages.some(isUserTurn);
  let turns = 0;
  for (const group of atomicGroups(messages).reverse()) {
    const wanted =
      tail.tokens < (options.tokens ?? 0) ||
      turns < (options.turns ?? 0) ||
      messages.length - tail.start < (options.messages ?? 0);
    const newestTurnWhole = turns > 0 || (tail.start < messages.length && !hasUser);
    const members = messages.slice(group.start, group.end);
    const tokens = tail.tokens + members.reduce((sum, message) => sum + count(message), 0);
    if (newestTurnWhole && (!wanted || tokens > (options.maxTokens ?? Infinity))) break;
    turns += members.filter(isUserTurn).length;
    tail = { start: group.start, tokens };
  }
  return tail;
}
