// How many tokens each part of a compaction may take.
import { DEFAULT_LEDGER_TOKENS } from "@clew/plugin-sdk/transcript";

/** All from the spec "compaction" §2.1; tokens unless their name says otherwise. */
export const LIMITS = {
  /** Window of a model that names none. */
  defaultContextTokens: 200_000,
  /** Reserve when `reserveTokensFloor` is lower. */
  reserveTokens: 16_384,
  /** The reserve takes no more of the window. */
  reserveShare: 0.25,
  summaryShareOfReserve: 0.8,
  prefixShareOfReserve: 0.5,
  maxSummaryChars: 16_000,
  /** The ledger takes no more of what a prompt may hold besides system prompt and tools. */
  ledgerShare: 0.125,
} as const;

// Half of the room is left to grow into: a tail that fills it would compact
// again a few messages later.
const TAIL_SHARE = 0.5;
const CHARS_PER_TOKEN = 4;

export interface CompactionLimits {
  contextWindow: number;
  reserve: number;
  /** What a prompt may hold. */
  promptBudget: number;
  /** Output of one summary request. */
  summaryTokens: number;
  /** Output of the request for a split turn's beginning. */
  prefixTokens: number;
  summaryChars: number;
  /** Of the ledger beside the summary. */
  ledgerTokens: number;
  /** Largest kept tail. */
  tailTokens: number;
  /** What a prompt holds beside system prompt, tools, the longest summary and its ledger. */
  replyTokens: number;
}

export interface LimitsInput {
  contextWindow: number;
  maxOutputTokens: number;
  reserveTokensFloor: number;
  /** The host's budget for the prompt. */
  tokenBudget?: number | undefined;
  /** System prompt and tool schemas. */
  fixedTokens: number;
}

export function planLimits({
  maxOutputTokens,
  reserveTokensFloor,
  tokenBudget,
  fixedTokens,
  ...input
}: LimitsInput): CompactionLimits {
  const contextWindow = positive(input.contextWindow) ?? LIMITS.defaultContextTokens;
  const reserve = reserveTokens(contextWindow, reserveTokensFloor);
  const promptBudget = Math.min(positive(tokenBudget) ?? contextWindow, contextWindow - reserve);
  const longestReply = positive(maxOutputTokens) ?? Number.POSITIVE_INFINITY;
  const ledgerTokens = Math.floor(
    Math.min(DEFAULT_LEDGER_TOKENS, LIMITS.ledgerShare * Math.max(0, promptBudget - fixedTokens)),
  );
  const summaryTokens = Math.max(
    1,
    Math.min(Math.floor(LIMITS.summaryShareOfReserve * reserve), longestReply),
  );
  const summaryChars = Math.min(LIMITS.maxSummaryChars, summaryTokens * CHARS_PER_TOKEN);
  const room = Math.max(0, promptBudget - fixedTokens - ledgerTokens);
  return {
    contextWindow,
    reserve,
    promptBudget,
    summaryTokens,
    prefixTokens: Math.max(
      1,
      Math.min(Math.floor(LIMITS.prefixShareOfReserve * reserve), longestReply),
    ),
    summaryChars,
    ledgerTokens,
    tailTokens: Math.floor(TAIL_SHARE * room),
    replyTokens: Math.max(0, room - Math.ceil(summaryChars / CHARS_PER_TOKEN)),
  };
}

/** max(16,384, floor), but no more than a quarter of the window. */
export function reserveTokens(contextWindow: number, floor: number): number {
  return Math.min(
    Math.max(LIMITS.reserveTokens, floor),
    Math.floor(contextWindow * LIMITS.reserveShare),
  );
}

const positive = (value: number | undefined) =>
  value !== undefined && Number.isFinite(value) && value > 0 ? Math.floor(value) : undefined;
