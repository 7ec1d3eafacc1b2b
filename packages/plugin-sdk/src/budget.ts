// How a model's window is divided between reserve, prompt and engine.
import type { Usage } from "./contract/message.ts";
import type { ToolDefinition } from "./contract/model.ts";
import { estimateText } from "./tokens/estimate.ts";

/** Tokens held back when `agents.defaults.compaction.reserveTokensFloor` is not set. */
export const DEFAULT_RESERVE_TOKENS = 20_000;

/** The reserve never takes more than this share of the window. */
export const MAX_RESERVE_SHARE = 0.25;

/** Safety factor on estimates of what cannot be left out. */
export const ESTIMATE_MARGIN = 1.2;

/** How one window is divided. All in tokens. */
export interface TokenBudget {
  /** What the model holds, prompt and reply together. */
  contextWindow: number;
  /** Held back for the reply. */
  reserve: number;
  /** What a prompt may hold: the window minus the reserve. */
  promptBudget: number;
  /** Estimate of what every request carries besides the messages an engine chooses. */
  fixedTokens: number;
  /**
   * What an engine may use, by the SDK's estimates: promptBudget − 1.2 × fixedTokens, both in the
   * model's tokens (see `tokenRatio`), at least 1. Whoever fills it passes the host's check.
   */
  tokenBudget: number;
}

/**
 * The tokens held back for a reply: `reserveTokens`, but no more than a quarter of the window. 0
 * holds nothing back; what is not a positive number counts as 0.
 */
export function reserveOf(contextWindow: number, reserveTokens: number): number {
  const wanted = Number.isNaN(reserveTokens) ? 0 : Math.max(0, Math.floor(reserveTokens));
  return Math.min(wanted, Math.floor(contextWindow * MAX_RESERVE_SHARE));
}

/** The same rule for every engine, every assembly of a turn, compaction and `/status`. */
export function planBudget(input: {
  contextWindow: number;
  /** As configured; see `reserveOf`. */
  reserveTokens: number;
  /** Default 0. */
  fixedTokens?: number;
  /** Counted / estimated tokens of the model; below 1 it gives an engine nothing. Default 1. */
  tokenRatio?: number;
}): TokenBudget {
  const { contextWindow, fixedTokens = 0 } = input;
  const ratio = Math.max(1, input.tokenRatio ?? 1);
  const reserve = reserveOf(contextWindow, input.reserveTokens);
  const promptBudget = Math.max(1, contextWindow - reserve);
  const left = promptBudget - Math.ceil(ESTIMATE_MARGIN * ratio * fixedTokens);
  const tokenBudget = Math.max(1, Math.floor(left / ratio));
  return { contextWindow, reserve, promptBudget, fixedTokens, tokenBudget };
}

/** Tokens of the prompt as the provider counted it, wherever it read them from. */
export function promptTokensOf(usage: Pick<Usage, "input" | "cacheRead" | "cacheWrite">): number {
  return usage.input + usage.cacheRead + usage.cacheWrite;
}

/** Estimated tokens of the system prompt and the tool schemas, which no compaction can shrink. */
export function fixedTokensOf(
  system: readonly { text: string }[],
  tools: readonly ToolDefinition[],
): number {
  const texts = [...system.map(({ text }) => text), ...tools.map((tool) => JSON.stringify(tool))];
  return texts.reduce((sum, text) => sum + estimateText(text).estimate, 0);
}
