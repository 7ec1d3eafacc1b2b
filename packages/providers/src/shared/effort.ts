// How many tokens a reply may be thought about.
import type { ModelCall, ReasoningEffort } from "@clew/plugin-sdk/host";

/** What of a reply may be thought, where a model takes tokens instead of a word. */
const SHARE: Readonly<Record<Exclude<ReasoningEffort, "off">, number>> = {
  minimal: 0,
  low: 0.2,
  medium: 0.5,
  high: 0.7,
  xhigh: 0.8,
  max: 0.8,
};

/** Tokens, within the limits of a wire; undefined when the reply has no room for the least. */
export function thinkingBudget(
  { model, maxOutputTokens, reasoning }: ModelCall,
  { least, most }: { least: number; most: number },
): number | undefined {
  const room = maxOutputTokens ?? model.maxOutputTokens;
  const { effort = "medium", budgetTokens } = reasoning ?? {};
  const wanted = budgetTokens ?? room * (effort === "off" ? 0 : SHARE[effort]);
  const budget = Math.max(least, Math.min(Math.floor(wanted), most, room - 1));
  return budget < room ? budget : undefined;
}
