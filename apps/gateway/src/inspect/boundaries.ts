// Which compaction or reset hides each entry of a branch.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";

/** What an entry is hidden by. */
export interface Boundary {
  /** "summary": a compaction's text stands for it · "reset": nothing does. */
  kind: "summary" | "reset";
  /** Id of the entry that hides it. */
  id: string;
}

export const isBoundary = ({ type }: TranscriptEntry): boolean =>
  type === "compaction" || type === "reset";

/** True for entries that say something, whose fate is told. */
export const isMember = ({ type }: TranscriptEntry): boolean =>
  type === "message" || type === "custom_message" || type === "branch_summary";

/** Entries that the same boundary hides; places on a branch. */
export interface Stretch {
  from: number;
  /** Of the first entry behind them. */
  end: number;
  by: Boundary;
}

/**
 * Pure. The newest boundary that hides each entry of `branch`, told by stretches, in order; what is
 * in none may be shown. `boundaries`: places of all there are. What a summary was made from is all
 * that could be shown then, the summary before included: so it covers what that one covered. What a
 * reset left behind stays so.
 */
export function planStretches(
  branch: readonly TranscriptEntry[],
  boundaries: readonly number[],
  placeOf: (id: string) => number | undefined,
): Stretch[] {
  const stretches: Stretch[] = [];
  /** Entries before it are not settled yet; `by` hides them, as far as the newer ones say. */
  let end = branch.length;
  let by: Boundary | undefined;
  const settle = (from: number) => {
    const next = stretches.at(-1);
    if (by !== undefined && from < end) {
      if (next?.by === by && next.from === end) next.from = from;
      else stretches.push({ from, end, by });
    }
    end = Math.min(end, from);
  };
  for (const at of boundaries.toReversed()) {
    const entry = branch[at]!;
    if (entry.type !== "compaction" && entry.type !== "reset") continue;
    settle(Math.min(at, placeOf(entry.firstKeptEntryId ?? "") ?? at));
    if (entry.type === "reset") by = { kind: "reset", id: entry.id };
    else by ??= { kind: "summary", id: entry.id };
  }
  settle(0);
  return stretches.reverse();
}

/** Pure. The same for each entry of `branch`; undefined = it may be shown. */
export function planBoundaries(
  branch: readonly TranscriptEntry[],
  placeOf: (id: string) => number | undefined = placesIn(branch),
): (Boundary | undefined)[] {
  const hidden = new Array<Boundary | undefined>(branch.length).fill(undefined);
  const boundaries = branch.flatMap((entry, at) => (isBoundary(entry) ? [at] : []));
  for (const { by, from, end } of planStretches(branch, boundaries, placeOf))
    hidden.fill(by, from, end);
  return hidden;
}

/** Pure. What hides the entry at a place. */
export const hiderOf = (stretches: readonly Stretch[], at: number): Boundary | undefined =>
  stretches.findLast(({ from, end }) => from <= at && at < end)?.by;

function placesIn(branch: readonly TranscriptEntry[]): (id: string) => number | undefined {
  let places: Map<string, number> | undefined;
  return (id) => {
    places ??= new Map(branch.map((entry, at) => [entry.id, at]));
    return places.get(id);
  };
}
