// Which stored tool results are shortened, all at once, where no compaction can help.
import type { AgentMessage, ToolResultMessage } from "../contract/message.ts";
import { estimateMessage } from "../tokens/message.ts";
import { messageId } from "../transcript/message-id.ts";
import {
  capToolResults,
  SMALLEST_RESULT,
  shortenResult,
  wayBack,
} from "../transcript/tool-result-caps.ts";
import { namesIn } from "./names.ts";

/** How much room is to be made. Tokens, estimated. */
export interface BulkCutOptions {
  /** The model's, in which every request shows long results shortened already. */
  contextWindow: number;
  /** What shall be freed, if there is so much. */
  freeTokens: number;
  /** Nothing is cut where less than this would be freed: every cut costs all that is cached. */
  leastTokens: number;
  /** The tool that shows a result whole, which every cut then names. Absent: there is none. */
  reader?: string | undefined;
}

/** What becomes shorter, and what that saves. */
export interface BulkCut {
  /** Oldest first, each with its place in the list; empty = nothing is to be done. */
  cuts: readonly { index: number; message: ToolResultMessage }[];
  /** Estimated tokens by which requests become smaller. */
  freedTokens: number;
}

/** A result is worth cutting if less than half of it is left. */
const MOST_LEFT = 0.5;
const MAX_NAMES = 40;
const MAX_NAMES_CHARS = 800;

/**
 * The oldest results, as many as are needed; never the newest. What was cut leaves its names
 * behind, from where a ledger takes them. Pure; calls and results stay paired.
 */
export function planBulkCut(
  messages: readonly AgentMessage[],
  { contextWindow, freeTokens, leastTokens, reader }: BulkCutOptions,
): BulkCut {
  const newest = messages.findLastIndex(({ role }) => role === "toolResult");
  const cuts: { index: number; message: ToolResultMessage }[] = [];
  let freedTokens = 0;
  for (const [index, message] of messages.entries()) {
    if (index === newest || freedTokens >= freeTokens) break;
    if (message.role !== "toolResult") continue;
    const shortened = cutResult(message, reader);
    const before = estimateMessage(capToolResults([message], contextWindow)[0]!).estimate;
    const after = estimateMessage(shortened).estimate;
    if (after > MOST_LEFT * before) continue;
    cuts.push({ index, message: shortened });
    freedTokens += before - after;
  }
  return cuts.length === 0 || freedTokens < leastTokens
    ? { cuts: [], freedTokens: 0 }
    : { cuts, freedTokens };
}

const cutResult = (message: ToolResultMessage, reader: string | undefined) =>
  shortenResult(message, SMALLEST_RESULT, (cut) => {
    const names = namesOf(cut);
    const named = names === "" ? "" : `; named in it: ${names}`;
    return `to make room; ${wayBack(reader, messageId(message))}${named}`;
  });

/** What came most often first. */
function namesOf(text: string): string {
  const names = namesIn(text)
    .filter(({ weak, places }) => !weak || places.length > 1)
    .sort((left, right) => right.places.length - left.places.length)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name)
    .join(", ");
  return names.length <= MAX_NAMES_CHARS
    ? names
    : names.slice(0, Math.max(0, names.lastIndexOf(", ", MAX_NAMES_CHARS)));
}
