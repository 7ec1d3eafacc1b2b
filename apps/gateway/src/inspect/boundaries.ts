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

/**
 * Pure. For each entry of `branch` the newest boundary that hides it; undefined = it may be shown.
 * What a summary was made from is all that could be shown then, the summary before included: so it
 * covers what that one covered. What a reset left behind stays so.
 */
export function planBoundaries(
  branch: readonly TranscriptEntry[],
  placeOf: (id: string) => number | undefined = placesIn(branch),
): (Boundary | undefined)[] {
  const hidden = new Array<Boundary | undefined>(branch.length).fill(undefined);
  /** Entries before it are not settled yet; `by` hides them, as far as the newer ones say. */
  let end = branch.length;
  let by: Boundary | undefined;
  for (let at = branch.length - 1; at >= 0; at--) {
    const entry = branch[at]!;
    if (entry.type !== "compaction" && entry.type !== "reset") continue;
    const keptFrom = Math.min(at, placeOf(entry.firstKeptEntryId ?? "") ?? at);
    if (keptFrom < end) hidden.fill(by, keptFrom, end);
    end = Math.min(end, keptFrom);
    if (entry.type === "reset") by = { kind: "reset", id: entry.id };
    else by ??= { kind: "summary", id: entry.id };
  }
  return hidden.fill(by, 0, end);
}

function placesIn(branch: readonly TranscriptEntry[]): (id: string) => number | undefined {
  let places: Map<string, number> | undefined;
  return (id) => {
    places ??= new Map(branch.map((entry, at) => [entry.id, at]));
    return places.get(id);
  };
}
