// Lays each call of a session beside what it would have been.
import { dollarsText } from "../costs/describe.ts";
import { formatTable } from "../terminal/table.ts";
import { number } from "../text/number.ts";
import type { WhatIf } from "./shapes.ts";

/** Pure. A row for each played call, by the session's own in whose place it stands. */
export function formatEachCall({ unpaid, asItWas, played }: WhatIf): string {
  const made = new Map(asItWas.each.map((call) => [call.id, call]));
  const hasCost = played.points.some(({ cost }) => cost !== null);
  const rows = played.points.map((point) => {
    const was = made.get(point.ofCall ?? "");
    const { all, shown, summary } = point.fates;
    return [
      point.ofCall ?? `(${point.id})`,
      was === undefined ? "–" : number(was.tokens),
      number(point.tokens.total),
      point.isOverBudget ? "too large" : "",
      number(shown),
      number(summary),
      number(all - shown - summary),
      ...(hasCost
        ? [costText(was?.cost), costText(was?.expected), costText(point.cost?.total)]
        : []),
    ];
  });
  return formatTable(
    [
      ...["call", "tokens", "would be", "", "shown", "in summaries", "not shown"],
      ...(hasCost ? [unpaid === null ? "billed" : "when made", "as it was", "would cost"] : []),
    ],
    rows,
  );
}

const costText = (dollars: number | null | undefined): string =>
  dollars == null ? "–" : dollarsText(dollars);
