// Lays the calls of a session out as stacked curves with marks and a line for the budget.

import { formatCount, formatDollars, formatShare } from "../../src/conversation/format.ts";
import { costWithSides } from "../../src/inspect/cost-with-sides.ts";
import type { CallMark, CallRow } from "../../src/inspect/shapes/calls.ts";
import { MARKS } from "./marks.ts";
import { BANDS, type Metric } from "./sources.ts";

export interface TimelinePlan {
  /** Place of each call, from 0. */
  places: readonly number[];
  /** Curves to be filled down to zero one over the other: the whole first, the lowest band last. */
  curves: readonly { label: string; color: string; heights: readonly (number | null)[] }[];
  /** Most tokens that a request may have; nothing where it is not tokens that are shown. */
  budget: readonly (number | null)[];
  marks: readonly { place: number; mark: CallMark }[];
}

/** Pure. */
export function planTimeline(rows: readonly CallRow[], metric: Metric): TimelinePlan {
  const bands = BANDS[metric];
  const stacked = rows.map((row) => stackOf(row, metric));
  return {
    places: rows.map((_, place) => place),
    curves: bands
      .map(({ label, color }, index) => ({
        ...{ label, color },
        heights: stacked.map((heights) => heights[index] ?? null),
      }))
      .reverse(),
    budget: rows.map(({ promptBudget }) => (metric === "cost" ? null : promptBudget)),
    marks: marksOf(rows),
  };
}

/** What was stacked once: rows come in by and by, and those that are there stay what they are. */
const known: Readonly<Record<Metric, WeakMap<CallRow, readonly (number | null)[]>>> = {
  ...{ tokens: new WeakMap(), cost: new WeakMap(), cache: new WeakMap() },
};

function stackOf(row: CallRow, metric: Metric): readonly (number | null)[] {
  const before = known[metric].get(row);
  if (before !== undefined) return before;
  const stacked = stack(BANDS[metric].map((band) => band.of(row)));
  known[metric].set(row, stacked);
  return stacked;
}

function marksOf(rows: readonly CallRow[]): TimelinePlan["marks"] {
  const found: { place: number; mark: CallMark }[] = [];
  for (const [place, { marks }] of rows.entries())
    for (const mark of marks) found.push({ place, mark });
  return found;
}

/** Each height on top of those before it; what is not known takes no place, all of it is a gap. */
function stack(heights: readonly (number | null)[]): (number | null)[] {
  if (heights.every((height) => height === null)) return heights.map(() => null);
  let sum = 0;
  return heights.map((height) => {
    sum += height ?? 0;
    return sum;
  });
}

/** Lines about a call for those who point at it; the first names it. */
export function describePointed(row: CallRow): string[] {
  const { id, startedAt, tokens, promptBudget, cost, cache, marks } = row;
  const of = promptBudget === null ? "" : ` of ${formatCount(promptBudget)}`;
  const read = cache?.read ?? null;
  return [
    `Call ${id}, ${startedAt.slice(0, 16).replace("T", " ")} UTC`,
    `${formatCount(tokens.total)}${of} tokens`,
    ...BANDS.tokens.flatMap((band) => {
      const amount = band.of(row) ?? 0;
      return amount === 0 ? [] : [`${band.label} ${formatCount(amount)}`];
    }),
    cost === null ? "Cost not known" : `Cost ${costWithSides(cost, formatDollars)}`,
    ...(read === null ? [] : [`${formatShare(read, tokens.total)} from cache`]),
    ...marks.map((mark) => `${MARKS[mark].glyph} ${MARKS[mark].label}`),
  ];
}

/** A call as a sentence, for those who do not see the curves. */
export function describePlace(row: CallRow | undefined, metric: Metric): string {
  if (row === undefined) return "no call";
  const read = row.cache?.read ?? null;
  const amount = {
    tokens: `${formatCount(row.tokens.total)} tokens`,
    cost: row.cost === null ? "cost not known" : costWithSides(row.cost, formatDollars),
    cache: read === null ? "cache not known" : `${formatShare(read, row.tokens.total)} from cache`,
  }[metric];
  return [`call ${row.id}: ${amount}`, ...row.marks.map((mark) => MARKS[mark].label)].join(", ");
}
