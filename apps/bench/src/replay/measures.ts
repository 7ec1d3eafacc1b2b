// Which figures the evaluation gives, and which way each of them is better.

/** One figure: a part of a whole, both summed over calls and sessions. */
export interface Measure {
  id: string;
  title: string;
  /** "percent" of the whole, "ratio" to it, "count" of the part, "each" = the part per unit. */
  as: "percent" | "ratio" | "count" | "each";
  better: "more" | "less";
  /** Fewer items than this say nothing. Absent: any number does. */
  least?: number;
  /** True: where it runs, not what was chosen; never compared. */
  isTime?: true;
}

const OLD_LEAST = 100;

export const MEASURES = [
  { id: "names", title: "names in view %", as: "percent", better: "more" },
  { id: "oldNames", title: "old names in view %", as: "percent", better: "more", least: OLD_LEAST },
  { id: "grounded", title: "grounded in view %", as: "percent", better: "more" },
  { id: "groundedOne", title: "grounded within one call %", as: "percent", better: "more" },
  { id: "findTokens", title: "… tokens of such a call", as: "each", better: "less" },
  {
    id: "oldGrounded",
    title: "old grounded in view %",
    as: "percent",
    better: "more",
    least: OLD_LEAST,
  },
  { id: "bytes", title: "bytes back in two calls %", as: "percent", better: "more" },
  { id: "readTokens", title: "… tokens per message read", as: "each", better: "less" },
  { id: "constraints", title: "constraints in view %", as: "percent", better: "more" },
  { id: "hit", title: "cache hit %", as: "percent", better: "more" },
  { id: "cost", title: "cost / sending everything", as: "ratio", better: "less" },
  { id: "costSummaries", title: "… with the summariser's calls", as: "ratio", better: "less" },
  { id: "costRecall", title: "… and a recall call per name missing", as: "ratio", better: "less" },
  { id: "hidden", title: "results changed, not reported", as: "count", better: "less" },
  { id: "missing", title: "current request missing", as: "count", better: "less" },
  { id: "cutShort", title: "current request not whole", as: "count", better: "less" },
  { id: "disordered", title: "messages altered, twice, out of order", as: "count", better: "less" },
  { id: "unpaired", title: "unpaired calls or results", as: "count", better: "less" },
  { id: "newest", title: "newest message missing", as: "count", better: "less" },
  { id: "unmarked", title: "something hidden, no marker", as: "count", better: "less" },
  { id: "over", title: "over budget", as: "count", better: "less" },
  { id: "invalid", title: "invalid requests", as: "count", better: "less" },
  { id: "notMade", title: "calls not made", as: "count", better: "less" },
  { id: "engineMs", title: "engine ms per call", as: "each", better: "less", isTime: true },
  { id: "hostMs", title: "host ms per call", as: "each", better: "less", isTime: true },
] as const satisfies readonly Measure[];

export type MeasureId = (typeof MEASURES)[number]["id"];

/** Part and whole of every figure. */
export type Tally = Record<MeasureId, { part: number; whole: number }>;

export function emptyTally(): Tally {
  return Object.fromEntries(MEASURES.map(({ id }) => [id, { part: 0, whole: 0 }])) as Tally;
}

export function addTallies(tallies: readonly Tally[]): Tally {
  const sum = emptyTally();
  for (const tally of tallies)
    for (const { id } of MEASURES) {
      sum[id].part += tally[id].part;
      sum[id].whole += tally[id].whole;
    }
  return sum;
}

/** The figure; undefined when there was nothing to judge, or too little. */
export function figureOf(tally: Tally, { id, as, least = 1 }: Measure): number | undefined {
  const { part, whole } = tally[id as MeasureId];
  if (as === "count") return part;
  if (whole < Math.min(least, 1) || (as === "percent" && whole < least)) return undefined;
  return as === "percent" ? (100 * part) / whole : part / whole;
}
