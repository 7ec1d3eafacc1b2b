// Which end of a branch its context is made of.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";

/** True of a compaction and of a reset. */
export const replacesHistory = ({ type }: TranscriptEntry): boolean =>
  type === "compaction" || type === "reset";

/** What the newest compaction or reset left of a branch, from the first entry that it kept on. */
export function shownPart(branch: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const boundary = branch.findLastIndex(replacesHistory);
  const newest = branch[boundary];
  if (newest?.type !== "compaction" && newest?.type !== "reset") return branch;
  const keptFrom = branch.findLastIndex(({ id }) => id === newest.firstKeptEntryId);
  return branch.slice(keptFrom < 0 ? boundary : Math.min(keptFrom, boundary));
}
