// How many tokens of a model's window an assembly may use.

/** Safety factor on estimates of what cannot be left out (contract §3.1 step 4). */
const ESTIMATE_MARGIN = 1.2;
/** The reserve never takes more than this share of the window (compaction spec §2.1). */
const MAX_RESERVE_SHARE = 0.25;

/**
 * Tokens held back for the reply when nothing is configured
 * (`agents.defaults.compaction.reserveTokensFloor`).
 */
export const DEFAULT_RESERVE_TOKENS = 20_000;

export interface TokenBudget {
  /** All in tokens. */
  contextWindow: number;
  reserve: number;
  /** Window − reserve. */
  promptBudget: number;
  /** Estimate of system prompt, tool schemas and prompt. */
  fixedTokens: number;
  /** What an engine may use: promptBudget − 1.2 × fixedTokens, at least 1. */
  tokenBudget: number;
}

/**
 * The same rule for every engine, for the first assembly of a turn and for those in its tool loop.
 */
export function planBudget(input: {
  contextWindow: number;
  reserveTokens: number;
  fixedTokens: number;
}): TokenBudget {
  const { contextWindow, fixedTokens } = input;
  const reserve = Math.min(
    Math.max(0, Math.floor(input.reserveTokens)),
    Math.floor(contextWindow * MAX_RESERVE_SHARE),
  );
  const promptBudget = Math.max(1, contextWindow - reserve);
  const tokenBudget = Math.max(1, promptBudget - Math.ceil(ESTIMATE_MARGIN * fixedTokens));
  return { contextWindow, reserve, promptBudget, fixedTokens, tokenBudget };
}
