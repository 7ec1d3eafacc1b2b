// Lays the calls of a session out as stacked curves with marks and a line for the budget.
import type { CallMark, CallRow } from "../../src/inspect/shapes.ts";
import { formatCount, formatDollars, formatShare } from "../format.ts";
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
  /** Where turns begin, and which. */
  turns: readonly { place: number; turn: number }[];
}

/** Pure. */
export function planTimeline(rows: readonly CallRow[], metric: Metric): TimelinePlan {
  const bands = BANDS[metric];
  const stacked = rows.map((row) => stack(bands.map((band) => band.of(row))));
  return {
    places: rows.map((_, place) => place),
    curves: bands
      .map(({ label, color }, index) => ({
        ...{ label, color },
        heights: stacked.map((heights) => heights[index] ?? null),
      }))
      .reverse(),
    budget: rows.map(({ promptBudget }) => (metric === "cost" ? null : promptBudget)),
    marks: rows.flatMap(({ marks }, place) => marks.map((mark) => ({ place, mark }))),
    turns: rows.flatMap(({ turn }, place) =>
      turn === rows[place - 1]?.turn ? [] : [{ place, turn }],
    ),
  };
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

/** A call as a sentence, for those who do not see the curves. */
export function describePlace(row: CallRow | undefined, metric: Metric): string {
  if (row === undefined) return "no call";
  const read = row.cache?.read ?? null;
  const amount = {
    tokens: `${formatCount(row.tokens.total)} tokens`,
    cost: row.cost === null ? "cost not known" : formatDollars(row.cost.total),
    cache: read === null ? "cache not known" : `${formatShare(read, row.tokens.total)} from cache`,
  }[metric];
  return [`call ${row.id}: ${amount}`, ...row.marks.map((mark) => MARKS[mark].label)].join(", ");
}
