// How a history is divided for a model that cannot read it all at once.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { atomicGroups } from "@clew/plugin-sdk/transcript";

/** Spec "compaction" §2.1. */
export const CHUNKS = {
  baseRatio: 0.4,
  minRatio: 0.15,
  safetyMargin: 1.2,
  /** Tokens of a request besides its conversation: instructions, earlier summary. */
  overheadTokens: 4096,
  defaultParts: 2,
  minMessagesForSplit: 4,
  oversizedShare: 0.5,
  /** Of an estimate: hardly ever is the count less. */
  leastShare: 0.8,
} as const;

/** Tokens of one message in a summary request. */
export type CountMessage = (message: AgentMessage) => number;

/** Share of the window for one chunk; smaller when messages are large on average. */
export function computeAdaptiveChunkRatio(
  messages: readonly AgentMessage[],
  contextWindow: number,
  count: CountMessage,
): number {
  if (messages.length === 0) return CHUNKS.baseRatio;
  const average = total(messages, count) / messages.length;
  const ratio = (average * CHUNKS.safetyMargin) / contextWindow;
  if (ratio <= 0.1) return CHUNKS.baseRatio;
  return Math.max(
    CHUNKS.minRatio,
    CHUNKS.baseRatio - Math.min(ratio * 2, CHUNKS.baseRatio - CHUNKS.minRatio),
  );
}

/**
 * The share minus the overhead, at least 1. On windows so small that the overhead would take more
 * than half of it, half of the share.
 */
export function maxChunkTokens(contextWindow: number, ratio: number): number {
  const share = Math.floor(contextWindow * ratio);
  return Math.max(1, share - CHUNKS.overheadTokens, Math.floor(share / 2));
}

/** At most `parts` chunks of about equal tokens; a tool call stays with its results. */
export function splitMessagesByTokenShare(
  messages: readonly AgentMessage[],
  parts: number,
  count: CountMessage,
): AgentMessage[][] {
  if (messages.length === 0) return [];
  const wanted = Number.isFinite(parts) ? Math.min(Math.floor(parts), messages.length) : 1;
  if (wanted <= 1) return [messages.slice()];
  const target = total(messages, count) / wanted;
  return pack(
    messages,
    count,
    ({ tokens, next, closed }) => tokens + next > target && closed < wanted - 1,
  );
}

/**
 * Chunks of at most `maxTokens` with a safety margin; a group that is larger is a chunk of its own.
 */
export function chunkMessagesByMaxTokens(
  messages: readonly AgentMessage[],
  maxTokens: number,
  count: CountMessage,
): AgentMessage[][] {
  const limit = Math.max(1, Math.floor(maxTokens / CHUNKS.safetyMargin));
  return pack(messages, count, ({ tokens, next }) => tokens + next > limit);
}

/**
 * True for a message no summary request should hold: with its margin it takes more
 * than half of the window.
 */
export function isOversized(
  message: AgentMessage,
  contextWindow: number,
  count: CountMessage,
): boolean {
  return count(message) * CHUNKS.safetyMargin > CHUNKS.oversizedShare * contextWindow;
}

/** True for what a model would surely refuse, so that asking it costs time and nothing else. */
export const isBeyond = (
  messages: readonly AgentMessage[],
  contextWindow: number,
  count: CountMessage,
): boolean => CHUNKS.leastShare * total(messages, count) > contextWindow;

/** Without what a host injected for one run only: it is no part of the conversation. */
export function conversationOnly(messages: readonly AgentMessage[]): AgentMessage[] {
  return messages.filter(
    (message) => message.role !== "custom" || message.customType !== "openclaw.runtime-context",
  );
}

export const total = (messages: readonly AgentMessage[], count: CountMessage): number =>
  messages.reduce((sum, message) => sum + count(message), 0);

interface Packing {
  /** Tokens of the open chunk. */
  tokens: number;
  /** Tokens of the group to be added. */
  next: number;
  /** Chunks finished. */
  closed: number;
}

function pack(
  messages: readonly AgentMessage[],
  count: CountMessage,
  closesBefore: (state: Packing) => boolean,
): AgentMessage[][] {
  const chunks: AgentMessage[][] = [];
  let open: AgentMessage[] = [];
  let tokens = 0;
  for (const { start, end } of atomicGroups(messages)) {
    const group = messages.slice(start, end);
    const next = total(group, count);
    if (open.length > 0 && closesBefore({ tokens, next, closed: chunks.length })) {
      chunks.push(open);
      open = [];
      tokens = 0;
    }
    open.push(...group);
    tokens += next;
  }
  if (open.length > 0) chunks.push(open);
  return chunks;
}
