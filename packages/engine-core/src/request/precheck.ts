// Decides before sending whether a request fits and what would make it fit.
import { ESTIMATE_MARGIN } from "@clew/plugin-sdk/host";
import type { TokenEstimate } from "@clew/plugin-sdk/tokens";

const CHARS_PER_TOKEN = 4;
/** Characters cut beyond the bare need, so that one truncation is enough. */
const TRUNCATION_SLACK_CHARS = 2048;

/** What would make a request fit: nothing needed, a compaction, shorter tool results, or both. */
export type PrecheckRoute =
  | "fits"
  | "compact_only"
  | "truncate_tool_results_only"
  | "compact_then_truncate";

/** Whether a request fits, by how much it does not, and what would help. */
export interface Precheck {
  /** What would help. */
  route: PrecheckRoute;
  /** Tokens the request is believed to take. */
  estimate: number;
  /** Tokens above the budget; 0 = fits. */
  overflow: number;
  /** What the estimate was made of. */
  source: "assembled" | "unwindowed_assembled";
}

export interface RequestSize {
  /** Estimate of all messages. */
  messages: TokenEstimate;
  /**
   * What the provider counted for the leading messages, and the estimate of those after them;
   * null = nothing was counted.
   */
  measured: { tokens: number; after: TokenEstimate } | null;
}

export interface PrecheckInput {
  /** Tokens: window − reserve. */
  promptBudget: number;
  assembled: RequestSize;
  /** The engine's own estimate of its assembly; null when it gave none. */
  engineEstimate: number | null;
  /** History as it was before assembly; given when the engine said that it may overflow. */
  unwindowed?: RequestSize;
  /** Estimated tokens of system prompt and tool schemas. */
  fixedTokens: number;
  /** Measured / estimated tokens of this model. Default 1. */
  tokenRatio?: number;
  /**
   * Characters of tool results that truncation could remove; asked for only when
   * the request does not fit.
   */
  reducibleChars: () => number;
}

/**
 * The larger of the estimates decides when the engine's assembly is not authoritative; the
 * messages sent never change.
 */
export function planPrecheck(input: PrecheckInput): Precheck {
  const { fixedTokens, tokenRatio } = input;
  const assembled = estimateRequest(input.assembled, fixedTokens, input.engineEstimate, tokenRatio);
  const unwindowed =
    input.unwindowed === undefined
      ? 0
      : estimateRequest(input.unwindowed, fixedTokens, null, tokenRatio);
  const estimate = Math.max(assembled, unwindowed);
  const overflow = Math.max(0, estimate - input.promptBudget);
  return {
    route: overflow === 0 ? "fits" : chooseRoute(overflow, input.reducibleChars()),
    estimate,
    overflow,
    source: unwindowed > assembled ? "unwindowed_assembled" : "assembled",
  };
}

/**
 * Tokens of a request: the provider's count where there is one, the best estimate of the rest. Its
 * one margin, on what is fixed, is taken off what an engine may use: an engine that fills its
 * budget passes. The ratio corrects the host's own estimates only: neither what a provider counted
 * nor what an engine says it counted.
 */
export function estimateRequest(
  size: RequestSize,
  fixedTokens: number,
  engineEstimate: number | null,
  tokenRatio = 1,
): number {
  if (size.measured !== null)
    return size.measured.tokens + Math.ceil(tokenRatio * size.measured.after.estimate);
  return Math.ceil(
    Math.max(tokenRatio * size.messages.estimate, engineEstimate ?? 0) +
      ESTIMATE_MARGIN * tokenRatio * fixedTokens,
  );
}

function chooseRoute(overflow: number, reducibleChars: number): PrecheckRoute {
  if (reducibleChars <= 0) return "compact_only";
  return reducibleChars >= charsToFree(overflow)
    ? "truncate_tool_results_only"
    : "compact_then_truncate";
}

/** Characters of tool results to cut so that `overflow` tokens less are certainly sent. */
export function charsToFree(overflow: number): number {
  const chars = Math.max(0, overflow) * CHARS_PER_TOKEN;
  return Math.max(chars + TRUNCATION_SLACK_CHARS, Math.ceil(1.5 * chars));
}
