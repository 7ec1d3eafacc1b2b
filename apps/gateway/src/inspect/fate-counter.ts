// Counts fates from call to call, looking only at entries whose fate may have changed.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { type Boundary, isBoundary, isMember, planBoundaries } from "./boundaries.ts";
import { addFate, type CallFacts, type EntryFate, fateOf, noFates } from "./fates.ts";
import type { FateCounts } from "./shapes.ts";

/** What differs from the call before. */
export interface FateStep {
  /** The branch of the call, and how many of its leading entries the call before had, too. */
  path: readonly TranscriptEntry[];
  kept: number;
  /** Entries that are sent otherwise than before. */
  touched: ReadonlySet<string>;
  placeOf: (id: string) => number | undefined;
  facts: CallFacts;
  /** True: more than that may have changed, as what the engine's summaries cover. */
  isAll: boolean;
}

export interface FateCounter {
  /** The same as `countFates(planFates(path, facts))`. */
  advance(step: FateStep): FateCounts;
  /** What hides each entry of the path now. */
  hidden(): readonly (Boundary | undefined)[];
}

export function createFateCounter(): FateCounter {
  const counts = noFates();
  let fates: (EntryFate | undefined)[] = [];
  let hidden: (Boundary | undefined)[] = [];
  let boundaries: number[] = [];

  const settle = (at: number, { path, facts }: FateStep) => {
    const before = fates[at];
    if (before !== undefined) addFate(counts, before, -1);
    const entry = path[at]!;
    const fate = isMember(entry) ? fateOf(entry.id, hidden[at], facts) : undefined;
    fates[at] = fate;
    if (fate !== undefined) addFate(counts, fate);
  };
  /** True: another entry may be hidden now. */
  const followPath = ({ path, kept }: FateStep): boolean => {
    for (const fate of fates.slice(kept)) if (fate !== undefined) addFate(counts, fate, -1);
    fates = fates.slice(0, kept);
    const known = boundaries.length;
    boundaries = boundaries.filter((at) => at < kept);
    const isLess = boundaries.length < known;
    for (let at = kept; at < path.length; at++) if (isBoundary(path[at]!)) boundaries.push(at);
    const isMoved = isLess || (boundaries.at(-1) ?? -1) >= kept;
    if (isMoved) hidden = planBoundaries(path);
    else {
      hidden.length = kept;
      while (hidden.length < path.length) hidden.push(undefined);
    }
    return isMoved;
  };
  return {
    hidden: () => hidden,
    advance(step) {
      const { path, kept, touched, placeOf, isAll } = step;
      const isMoved = followPath(step);
      const places = [...touched].flatMap((id) => placeOf(id) ?? []);
      const isSummary = places.some((at) => path[at]!.type === "compaction");
      const from = isAll || isMoved || isSummary ? 0 : kept;
      for (const at of places) if (at < from) settle(at, step);
      for (let at = from; at < path.length; at++) settle(at, step);
      return { ...counts };
    },
  };
}
