// Decides what a turn learns of its model's tokens from a request that the provider refused.
import { planBudget } from "@clew/plugin-sdk/host";
import type { LoopFailure, Turn } from "./turn.ts";

/** Counted / estimated tokens: what is more is no tokeniser, but another request's count. */
const MAX_RATIO = 4;

/**
 * The provider counted more than was expected: the rest of the turn expects as much of everything.
 * What a single refusal says never makes estimates smaller.
 */
export function withCountedRatio(turn: Turn, { error, heldBack }: LoopFailure): Turn {
  const { setup, composed } = turn;
  const expected = composed.size?.tokens ?? 0;
  if (error.kind !== "overflow" || heldBack || expected === 0) return turn;
  const known = setup.settings.tokenRatio;
  const counted = ((error.promptTokens ?? 0) / expected) * known;
  const tokenRatio = Math.min(MAX_RATIO, Math.max(known, counted));
  if (tokenRatio === known) return turn;
  const { contextWindow } = setup.model;
  const { reserveTokens } = setup.settings;
  const { fixedTokens } = setup.budget;
  return {
    ...turn,
    setup: {
      ...setup,
      settings: { ...setup.settings, tokenRatio },
      budget: planBudget({ contextWindow, reserveTokens, fixedTokens, tokenRatio }),
    },
  };
}
