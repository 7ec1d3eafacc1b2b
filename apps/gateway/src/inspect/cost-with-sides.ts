// Tells what calls cost apart from the side calls that are paid with them.
import type { Cost } from "./shapes/calls.ts";

type Sums = Pick<Cost, "total" | "summariser">;

/** Pure. Without the side calls; what is left of rounding is cut off. */
export const ownDollars = ({ total, summariser }: Sums): number =>
  Math.round((total - summariser) * 1e12) / 1e12;

/** Pure. "$3.39", or "$3.39, and $15.99 for side calls, such as for a summary". */
export function costWithSides(cost: Sums, dollarsText: (dollars: number) => string): string {
  const own = dollarsText(ownDollars(cost));
  if (cost.summariser === 0) return own;
  return `${own}, and ${dollarsText(cost.summariser)} for side calls, such as for a summary`;
}
