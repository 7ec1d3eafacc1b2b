// Lays what a session would have been over what it was, call by call.

import { formatCount, formatNumberOf, formatShare } from "../../src/conversation/format.ts";
import type { CallRow } from "../../src/inspect/shapes/calls.ts";
import { describeCosts } from "../../src/lab/describe-costs.ts";
import type { PlayedPoint, WhatIf } from "../../src/lab/shapes.ts";
import type { Metric } from "./sources.ts";

type Points = WhatIf["played"]["points"];

/** Pure. Heights by the places of the session's own calls; null = none stands there. */
export function planOver(
  rows: readonly CallRow[],
  points: readonly PlayedPoint[],
  metric: Metric,
): (number | null)[] {
  const heightOf = ({ tokens, cost }: PlayedPoint) =>
    metric === "cost" ? (cost?.total ?? null) : tokens.total;
  const byCall = new Map(
    points.flatMap((point) => (point.ofCall === null ? [] : [[point.ofCall, heightOf(point)]])),
  );
  return rows.map(({ id }) => byCall.get(id) ?? null);
}

/** Pure. What it comes to, a sentence each, beside what the session was. */
export function describeWhatIf(whatIf: WhatIf): string[] {
  const { asItWas, played } = whatIf;
  const { engine, contextWindow, points, compactions, callsNotMade, failures } = played;
  const total = points.reduce((sum, { tokens }) => sum + tokens.total, 0);
  const largest = Math.max(0, ...points.map(({ tokens }) => tokens.total));
  const over = points.filter(({ isOverBudget }) => isOverBudget).length;
  const needed = points.reduce((sum, { evidence }) => sum + evidence.needed, 0);
  const present = points.reduce((sum, { evidence }) => sum + evidence.present, 0);
  const costs = describeCosts(whatIf);
  const most = (of: (fates: Points[number]["fates"]) => number) =>
    Math.max(0, ...points.map(({ fates }) => of(fates)));
  const notShown = most(({ all, shown }) => all - shown);
  const inPart = most(({ shortened }) => shortened);
  return [
    `${engine.ran} in a window of ${formatCount(contextWindow)}: ${formatCount(total)} tokens, estimated, in ${formatNumberOf(points.length, "call")}; it was ${formatCount(asItWas.tokens.total)} in ${formatCount(asItWas.calls)}.`,
    `The largest call: ${formatCount(largest)} tokens; it was ${formatCount(asItWas.tokens.max)}. ${formatNumberOf(compactions, "compaction")} that the host asked for, ${formatNumberOf(over, "call")} over budget.`,
    notShown === 0
      ? `Every entry is shown in every call${inPart === 0 ? "" : `, at most ${formatCount(inPart)} of a call in part`}.`
      : `At most ${formatNumberOf(notShown, "entry", "entries")} of a call ${notShown === 1 ? "is" : "are"} not shown: at most ${formatCount(most(({ summary }) => summary))} in summaries, ${formatCount(most(({ cleared }) => cleared))} cleared, ${formatCount(most(({ leftOut }) => leftOut))} left out.`,
    ...(costs === null ? [] : [costs]),
    ...(needed === 0
      ? []
      : [
          `Of the names that replies go on to use, ${formatShare(present, needed)} stood in the requests.`,
        ]),
    ...(engine.degraded === null
      ? []
      : [`${engine.asked} did not run: ${engine.degraded}; ${engine.ran} answered.`]),
    ...(callsNotMade === 0
      ? []
      : [`${formatNumberOf(callsNotMade, "call")} were not made: their turn had failed before.`]),
    ...failures.map(({ turn, reason }) => `Turn ${turn} failed: ${reason}`),
  ];
}
