// Tells what a session would cost beside what it would have as it was, and the bill.
import { dollarsText } from "../costs/describe.ts";
import { UNPAID } from "../costs/unpaid.ts";
import type { WhatIf } from "./shapes.ts";

/**
 * Pure. Both sides with the same cache, and the bill, which is of another kind; null = the prices
 * are not known.
 */
export function describeCosts({ unpaid, asItWas, played }: WhatIf): string | null {
  const costs = played.points.flatMap(({ cost }) => (cost === null ? [] : [cost.total]));
  if (costs.length === 0 || costs.length < played.points.length) return null;
  const would = costs.reduce((sum, cost) => sum + cost, 0);
  const { expected, cost } = asItWas;
  const base =
    expected === null
      ? ""
      : `; as it was it would be ${dollarsText(expected)} by the same reckoning`;
  const side =
    cost === null || cost.summariser === 0
      ? ""
      : `, ${dollarsText(cost.summariser)} of it for summaries`;
  const bill =
    cost === null
      ? ""
      : unpaid === null
        ? ` The bill was ${dollarsText(cost.total)}${side}.`
        : ` When they were made its calls came to ${dollarsText(cost.total)}${side}. ${UNPAID[unpaid]}`;
  return `It would cost ${dollarsText(would)}${base}: with a cache that gives what it can, and without summaries.${bill}`;
}
