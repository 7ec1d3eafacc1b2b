// How many tokens each part of a compaction may take.
import {
  planContextSize,
  reserveOf,
  type WaterMarks,
  type WaterSettings,
} from "@clew/plugin-sdk/host";
import { type RecordRoom, recordRoomOf, withinTokens } from "@clew/plugin-sdk/transcript";

/** All from the spec "compaction" §2.1; tokens unless their name says otherwise. */
export const LIMITS = {
  /** Window of a model that names none. */
  defaultContextTokens: 200_000,
  /** Least room of a request for a summary, at most a quarter of the window. */
  leastSummaryRoom: 16_384,
  summaryShareOfRoom: 0.8,
  maxSummaryChars: 16_000,
} as const;

// Half of the room is left to grow into: a tail that fills it would compact
// again a few messages later.
const TAIL_SHARE = 0.5;
/** Of prose. */
export const CHARS_PER_TOKEN = 4;
/**
 * Of the low mark, for a model's prose, in tokens: it is written at the price of five that are
 * read, and read with every request from then on.
 */
const PROSE_SHARE = 0.08;
const LEAST_PROSE = 600;
/** Of the low mark, for the record at most. */
const RECORD_SHARE = 0.6;
/** Of the low mark, for the tail in any case. */
const LEAST_TAIL_SHARE = 0.5;

export interface CompactionLimits {
  contextWindow: number;
  reserve: number;
  /** What a prompt may hold. */
  promptBudget: number;
  /** Output of one summary request. */
  summaryTokens: number;
  summaryChars: number;
  /** Of the record beside the summary, as its writer estimates. */
  recordRoom: RecordRoom;
  /** Above what the threshold compacts, and how far. As the model counts. */
  water: WaterMarks;
  /** What is usually kept: what the low mark leaves beside the record. As the model counts. */
  keepTokens: number;
  /** Largest kept tail. */
  tailTokens: number;
  /** What a prompt holds beside system prompt, tools, the longest summary and its record. */
  replyTokens: number;
}

export interface LimitsInput {
  contextWindow: number;
  maxOutputTokens: number;
  /** As configured; see `reserveOf`. */
  reserveTokens: number;
  /** The host's budget for the prompt. */
  tokenBudget?: number | undefined;
  /** System prompt and tool schemas. */
  fixedTokens: number;
  /** Counted / estimated tokens of the model. Absent: 1. */
  tokenRatio?: number | undefined;
  /** Of the newest exchange, estimated. Absent: 0. */
  newestTokens?: number | undefined;
  /** What the operator says of the marks. Absent: nothing. */
  water?: WaterSettings | undefined;
}

export function planLimits({
  maxOutputTokens,
  reserveTokens,
  tokenBudget,
  fixedTokens,
  ...input
}: LimitsInput): CompactionLimits {
  const contextWindow = wholeOf(input.contextWindow) ?? LIMITS.defaultContextTokens;
  const { tokenRatio, newestTokens, water: settings } = input;
  const sizeIn = (window: number, reserved: number) =>
    planContextSize({
      ...{ contextWindow: window, reserveTokens: reserved, fixedTokens, tokenRatio, newestTokens },
      messages: { estimate: 0, counted: null },
      water: settings,
    });
  const { reserve, promptBudget: most } = sizeIn(contextWindow, reserveTokens);
  const promptBudget = Math.min(wholeOf(tokenBudget) ?? most, most);
  const { water } = sizeIn(promptBudget, 0);
  const room = Math.max(reserve, reserveOf(contextWindow, LIMITS.leastSummaryRoom));
  const longestReply = wholeOf(maxOutputTokens) ?? Number.POSITIVE_INFINITY;
  const ratio = Math.max(1, tokenRatio ?? 1);
  const counted = withinTokens(
    recordRoomOf(Math.max(0, promptBudget - ratio * fixedTokens)),
    RECORD_SHARE * water.low,
  );
  const recordTokens = counted.ledger + counted.anchors + counted.pins;
  const summaryTokens = Math.max(
    1,
    Math.min(Math.floor(LIMITS.summaryShareOfRoom * room), longestReply),
  );
  const proseTokens = Math.max(LEAST_PROSE, Math.floor(PROSE_SHARE * water.low));
  const summaryChars = Math.min(
    LIMITS.maxSummaryChars,
    Math.min(summaryTokens, proseTokens) * CHARS_PER_TOKEN,
  );
  const free = Math.max(0, promptBudget - fixedTokens - recordTokens);
  return {
    contextWindow,
    reserve,
    promptBudget,
    summaryTokens,
    summaryChars,
    recordRoom: withinTokens(counted, recordTokens / ratio),
    water,
    keepTokens: Math.max(Math.floor(LEAST_TAIL_SHARE * water.low), water.low - recordTokens),
    tailTokens: Math.floor(TAIL_SHARE * free),
    replyTokens: Math.max(0, free - Math.ceil(summaryChars / CHARS_PER_TOKEN)),
  };
}

/** Rounded down; undefined for what is no positive number. */
const wholeOf = (value: number | undefined) =>
  value !== undefined && Number.isFinite(value) && value > 0 ? Math.floor(value) : undefined;
