// Which call of a session cost most, and which came closest to its budget.
import { dollarsText } from "../costs/describe.ts";
import { number } from "../text/number.ts";
import { ownDollars } from "./cost-with-sides.ts";
import type { CallRow, Peaks } from "./shapes/calls.ts";

/** Pure. Of equal ones the first; a call of which the figure is not known is neither. */
export function planPeaks(rows: readonly CallRow[]): Peaks {
  let dearest: Peaks["dearest"] = null;
  let fullest: Peaks["fullest"] = null;
  for (const { id, cost, tokens, promptBudget, lost } of rows) {
    const dollars = cost === null ? 0 : ownDollars(cost);
    if (dollars > (dearest?.dollars ?? 0)) dearest = { id, dollars };
    const sent = tokens.total;
    if (lost !== null || promptBudget === null || promptBudget === 0 || sent === 0) continue;
    const isFuller =
      fullest === null || sent * fullest.promptBudget > fullest.tokens * promptBudget;
    if (isFuller) fullest = { id, tokens: sent, promptBudget };
  }
  return { dearest, fullest };
}

/** Pure. A sentence each; none for what nobody knows. */
export function describePeaks({ dearest, fullest }: Peaks): string[] {
  return [
    ...(dearest === null
      ? []
      : [`The dearest call is ${dearest.id}: ${dollarsText(dearest.dollars)}.`]),
    ...(fullest === null
      ? []
      : [
          `The fullest call is ${fullest.id}: ${number(fullest.tokens)} of ${number(fullest.promptBudget)} tokens, ${fillText(fullest)}.`,
        ]),
  ];
}

/** Pure. "99.6 %": below its budget a call is never said to fill it, nor the other way round. */
export function fillText({
  tokens,
  promptBudget,
}: Pick<NonNullable<Peaks["fullest"]>, "tokens" | "promptBudget">): string {
  const percent = (100 * tokens) / promptBudget;
  const rounded = Math.round(percent);
  const isMisleading = rounded === 100 && tokens !== promptBudget;
  if (!isMisleading) return `${rounded} %`;
  return tokens < promptBudget ? "just under 100 %" : "just over 100 %";
}
