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
  /**
   * What has to go for the request to fit at all: results are cut shorter, at last the newest too,
   * until so much is freed. Absent: 0.
   */
  mustFreeTokens?: number | undefined;
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

interface Cutting {
  /** Characters that stay of a result. */
  keep: number;
  /** What was cut leaves its names behind. */
  names: boolean;
  newest: boolean;
}

/** From the gentlest on; what stays is as short as it must be. */
const CUTTINGS: readonly Cutting[] = [
  { keep: SMALLEST_RESULT, names: true, newest: false },
  { keep: 200, names: false, newest: false },
  { keep: 200, names: false, newest: true },
  { keep: 0, names: false, newest: true },
];
/** A result is worth cutting if less than half of it is left. */
const MOST_LEFT = 0.5;
const MAX_NAMES = 40;
const MAX_NAMES_CHARS = 800;

/**
 * The oldest results, as many as are needed; the newest only where nothing else makes the request
 * fit. What was cut leaves its names behind where there is room, from where a ledger takes them.
 * Pure; calls and results stay paired.
 */
export function planBulkCut(messages: readonly AgentMessage[], options: BulkCutOptions): BulkCut {
  const { leastTokens, mustFreeTokens = 0 } = options;
  let most = NO_CUT;
  for (const cutting of CUTTINGS) {
    const found = cutOldest(messages, options, cutting);
    if (found.freedTokens > most.freedTokens) most = found;
    if (most.freedTokens >= mustFreeTokens) break;
  }
  return most.freedTokens < leastTokens ? NO_CUT : most;
}

const NO_CUT: BulkCut = { cuts: [], freedTokens: 0 };

function cutOldest(
  messages: readonly AgentMessage[],
  { contextWindow, freeTokens, mustFreeTokens = 0, reader }: BulkCutOptions,
  cutting: Cutting,
): BulkCut {
  const newest = messages.findLastIndex(({ role }) => role === "toolResult");
  const cuts: { index: number; message: ToolResultMessage }[] = [];
  let freedTokens = 0;
  for (const [index, message] of messages.entries()) {
    const enough = index === newest ? mustFreeTokens : freeTokens;
    if (freedTokens >= enough || (index === newest && !cutting.newest)) break;
    if (message.role !== "toolResult") continue;
    const shortened = cutResult(message, cutting, reader);
    const before = estimateMessage(capToolResults([message], contextWindow)[0]!).estimate;
    const after = estimateMessage(shortened).estimate;
    if (after > MOST_LEFT * before) continue;
    cuts.push({ index, message: shortened });
    freedTokens += before - after;
  }
  return { cuts, freedTokens };
}

const cutResult = (
  message: ToolResultMessage,
  { keep, names }: Cutting,
  reader: string | undefined,
) =>
  shortenResult(message, keep, (cut) => {
    const named = names ? namesOf(cut) : "";
    return `to make room; ${wayBack(reader, messageId(message))}${named === "" ? "" : `; named in it: ${named}`}`;
  });

/** What came most often first. */
function namesOf(cut: string): string {
  const names = namesIn(wholeWordsOf(cut))
    .filter(({ weak, places }) => !weak || places.length > 1)
    .sort((left, right) => right.places.length - left.places.length)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name)
    .join(", ");
  return names.length <= MAX_NAMES_CHARS
    ? names
    : names.slice(0, Math.max(0, names.lastIndexOf(", ", MAX_NAMES_CHARS)));
}

/** A cut may begin and end in the midst of a word. */
function wholeWordsOf(cut: string): string {
  const from = cut.search(/\s/);
  let to = cut.length;
  while (to > from && !/\s/.test(cut[to - 1]!)) to--;
  return from < 0 ? "" : cut.slice(from, to);
}
