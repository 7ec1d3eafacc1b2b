// Says where calls, their columns and their signs stand in a plot.
import type { CallMark } from "../../src/inspect/shapes/calls.ts";
import type { TimelinePlan } from "./timeline.ts";

/** A few calls take no more room each than these many would. */
const FEWEST = 12;
/** How often the highest column may go into the budget before its line is left out of sight. */
const FLATTEST = 6;

/** Pure. The ends of the axis, so that the columns of both calls are whole. */
export function planPlaces(from: number, to: number): [number, number] {
  const first = from - 0.5;
  return [first, Math.max(to + 0.5, from === 0 ? first + FEWEST : 0)];
}

interface Drawn {
  plan: Pick<TimelinePlan, "curves" | "budget">;
  over: { heights: readonly (number | null)[] } | null;
}

/** Pure. The top of the plot: a budget far above all that was sent would flatten it. */
export function planTop({ plan, over }: Drawn): number {
  const highest = Math.max(maxOf(plan.curves[0]?.heights ?? []), maxOf(over?.heights ?? []));
  const budget = maxOf(plan.budget);
  if (highest === 0) return budget === 0 ? 1 : budget * 1.1;
  return Math.max(highest, budget <= highest * FLATTEST ? budget : 0) * 1.1;
}

/** Pure. */
export const isBudgetInSight = (drawn: Drawn): boolean =>
  maxOf(drawn.plan.budget) <= planTop(drawn);

const maxOf = (heights: readonly (number | null | undefined)[]): number =>
  heights.reduce<number>((most, height) => Math.max(most, height ?? 0), 0);

export interface PlotColumn {
  left: number;
  right: number;
  height: number;
}

/**
 * Pure. Columns of the places `from` to `to` and of their neighbours, which may be half in sight;
 * edges are whole pixels, so that columns touch. Of calls in the same pixels the highest is seen.
 */
export function planColumns(
  heights: ArrayLike<number | null | undefined>,
  from: number,
  to: number,
  pixelOf: (place: number) => number,
): PlotColumn[] {
  const columns: PlotColumn[] = [];
  const last = Math.min(heights.length - 1, to + 1);
  for (let place = Math.max(0, from - 1); place <= last; place++) {
    const height = heights[place];
    if (height === null || height === undefined) continue;
    const left = Math.round(pixelOf(place - 0.5));
    // Where there are more calls than pixels, none is without.
    const right = Math.max(left + 1, Math.round(pixelOf(place + 0.5)));
    const before = columns.at(-1);
    if (before?.left !== left || before.right !== right) columns.push({ left, right, height });
    else before.height = Math.max(before.height, height);
  }
  return columns;
}

/** Which sign stays where there is no room for all of them, the most telling first. */
const BY_WEIGHT: readonly CallMark[] = [
  ...(["lost", "overflow", "failed", "degraded", "stopped", "fallback"] as const),
  ...(["compaction", "prune", "cache-broken"] as const),
];

export interface PlacedSign {
  x: number;
  mark: CallMark;
}

/** Pure. Signs below the calls, at least `width` apart; further ones of a call stand beside it. */
export function planSigns(
  marks: TimelinePlan["marks"],
  pixelOf: (place: number) => number,
  width: number,
): PlacedSign[] {
  const taken = new Map<number, number[]>();
  const isFree = (x: number) => {
    const cell = Math.floor(x / width);
    const near = [cell - 1, cell, cell + 1].flatMap((each) => taken.get(each) ?? []);
    return near.every((other) => Math.abs(other - x) >= width);
  };
  return BY_WEIGHT.flatMap((mark) => marks.filter((each) => each.mark === mark)).flatMap(
    ({ place, mark }) => {
      const middle = pixelOf(place);
      const x = [middle, middle + width, middle - width].find(isFree);
      if (x === undefined) return [];
      const cell = Math.floor(x / width);
      taken.set(cell, [...(taken.get(cell) ?? []), x]);
      return [{ x, mark }];
    },
  );
}
