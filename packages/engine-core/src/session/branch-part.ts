// Finds the part of a branch that was asked for.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { BranchPart } from "../transcript-port.ts";

/** `TranscriptPort.read` for stores that hold the branch in memory; costs what it answers. */
export function partOfBranch(
  branch: readonly TranscriptEntry[],
  part: BranchPart,
): readonly TranscriptEntry[] | null {
  if ("tail" in part) return part.tail > 0 ? branch.slice(-part.tail) : [];
  if (part.after === null) return branch.slice();
  const index = branch.findLastIndex(({ id }) => id === part.after);
  return index < 0 ? null : branch.slice(index + 1);
}
