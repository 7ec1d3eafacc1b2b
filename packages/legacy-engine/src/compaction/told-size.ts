// How large a context is told to be, in the tokens that its model counts.
import { planContextSize } from "@clew/plugin-sdk/host";

/** The size of the context that a plan is about. */
export interface PlannedSize {
  /** Estimated tokens of its messages, as requests show them. */
  tokensBefore: number;
  /** What the model counts for one of these. */
  perEstimate: number;
}

/** What is known of how a model counts. */
interface Counting {
  /** Tokens. */
  contextWindow: number;
  options: { reserveTokensFloor: number };
  fixedTokens?: number | undefined;
  tokenRatio?: number | undefined;
  currentTokenCount?: number | undefined;
}

/** A count of something else than this context must not make it nothing. */
const MAX_SCALE = 4;

/**
 * By the count of the whole request, less what no compaction can shrink, where there is one: as
 * every decision and `/status` see it. Else by the model's ratio.
 */
export function countedPerEstimate(
  { contextWindow, options, fixedTokens = 0, tokenRatio = 1, currentTokenCount = 0 }: Counting,
  estimate: number,
): number {
  if (!(estimate > 0)) return tokenRatio;
  const isCounted = Number.isFinite(currentTokenCount) && currentTokenCount > 0;
  const { messages } = planContextSize({
    contextWindow,
    reserveTokens: options.reserveTokensFloor,
    fixedTokens,
    tokenRatio,
    messages: { estimate, counted: isCounted ? { tokens: currentTokenCount, after: 0 } : null },
  });
  return messages / estimate;
}

/** The same for what is decided, where a low count must not keep more than the ratio allows. */
export const scaleOf = ({ tokenRatio = 1 }: Counting, perEstimate: number): number =>
  perEstimate > 1 ? Math.min(MAX_SCALE, perEstimate) : tokenRatio;

/** Estimated tokens as the model counts them. */
export const toldTokens = ({ perEstimate }: PlannedSize, estimate: number): number =>
  Math.round(perEstimate * estimate);

/** What a compaction came to: always less than before, also where rounding hides it. */
export function toldSizes(
  size: PlannedSize,
  after: number,
): { tokensBefore: number; tokensAfter: number } {
  const tokensBefore = Math.max(1, toldTokens(size, size.tokensBefore));
  return { tokensBefore, tokensAfter: Math.min(toldTokens(size, after), tokensBefore - 1) };
}
