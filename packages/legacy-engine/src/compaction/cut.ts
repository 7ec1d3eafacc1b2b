// Where a compaction cuts the context, and whether that splits a turn.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { atomicGroups, type MessageRange } from "@clew/plugin-sdk/transcript";

export interface CutInput {
  messages: readonly AgentMessage[];
  /** Their `atomicGroups`, where they are known. Absent: they are found out. */
  groups?: readonly MessageRange[];
  /** First message that may be summarised: after an earlier summary. */
  start: number;
  /** Tokens of each message, for how much to keep. */
  tokens: readonly number[];
  /** Upper bounds of the same, for what must fit. */
  highTokens: readonly number[];
  /** Newest tokens to keep. */
  keepTokens: number;
  /** The kept part's upper bound stays within this, if cutting can do that. */
  maxTailTokens: number;
  /** A message that is kept with all after it where that fits: the open request. */
  preferKeptFrom?: number | undefined;
  /**
   * Room beside a summary, upper bound: a newest reply that is larger by its own words is
   * summarised too. Default: no bound.
   */
  maxReplyTokens?: number | undefined;
}

/**
 * History is [start, turnStart), the beginning of a split turn [turnStart, cut); the rest stays.
 */
export interface Cut {
  /** The number of messages when nothing stays. */
  cut: number;
  /** Equals `cut` unless a turn is split. */
  turnStart: number;
}

/**
 * Undefined when nothing can be cut away. A cut never leads with a tool result and never parts a
 * call from its result; the newest group always stays (spec "compaction" §2.5), unless it is a
 * reply that no request could hold beside a summary: a session must get out of that too.
 */
export function findCut(input: CutInput): Cut | undefined {
  const {
    messages,
    groups = atomicGroups(messages),
    start,
    tokens,
    highTokens,
    keepTokens,
    maxTailTokens,
    preferKeptFrom,
    maxReplyTokens = Infinity,
  } = input;
  const candidates = groups
    .map((group) => group.start)
    .filter((index) => index >= start && messages[index]!.role !== "toolResult");
  const reached = reachIndex(tokens, start, keepTokens);
  if (candidates.length === 0 || reached === undefined) return undefined;

  if (ownTokens(messages, highTokens, candidates.at(-1)!) > maxReplyTokens)
    return {
      cut: messages.length,
      turnStart: splitTurnStart(messages, start, messages.length) ?? messages.length,
    };
  // The newest group alone may be more than asked for: then it is what stays.
  let at = candidates.findIndex((index) => index >= reached);
  if (at < 0) at = candidates.length - 1;
  const tail = suffixSums(highTokens);
  while (at < candidates.length - 1 && tail[candidates[at]!]! > maxTailTokens) at++;

  let cut = candidates[at]!;
  if (
    preferKeptFrom !== undefined &&
    preferKeptFrom < cut &&
    candidates.includes(preferKeptFrom) &&
    tail[preferKeptFrom]! <= maxTailTokens
  )
    cut = preferKeptFrom;
  if (cut === start) return undefined;
  return { cut, turnStart: splitTurnStart(messages, start, cut) ?? cut };
}

/** Index of the newest message from which on there are at least `wanted` tokens. */
function reachIndex(tokens: readonly number[], start: number, wanted: number): number | undefined {
  let sum = 0;
  for (let index = tokens.length - 1; index >= start; index--) {
    sum += tokens[index]!;
    if (sum >= wanted) return index;
  }
  return undefined;
}

/**
 * Of the newest group, if it is a reply: its own words and calls. Results do not count, because a
 * host can shorten them; nor does a person's message.
 */
function ownTokens(
  messages: readonly AgentMessage[],
  highTokens: readonly number[],
  from: number,
): number {
  return messages[from]!.role === "assistant" ? highTokens[from]! : 0;
}

function splitTurnStart(
  messages: readonly AgentMessage[],
  start: number,
  cut: number,
): number | undefined {
  if (cut < messages.length && startsTurn(messages[cut]!)) return undefined;
  for (let index = cut - 1; index >= start; index--) if (startsTurn(messages[index]!)) return index;
  return undefined;
}

const startsTurn = ({ role }: AgentMessage) => role !== "assistant" && role !== "toolResult";

function suffixSums(values: readonly number[]): number[] {
  const sums = new Array<number>(values.length + 1).fill(0);
  for (let index = values.length - 1; index >= 0; index--)
    sums[index] = sums[index + 1]! + values[index]!;
  return sums;
}
