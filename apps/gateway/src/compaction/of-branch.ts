// Lists the compactions of the host that a branch holds.
import { isCompactionPrune } from "@clew/legacy-engine";
import {
  type CompactionEntry,
  pruneRecordOf,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { counted, number } from "../text/number.ts";

/** One compaction, in words. */
export interface HostCompaction {
  /** ISO 8601. */
  at: string;
  /** What asked for it; null = not told. */
  trigger: string | null;
  /** What became less: a history, or old tool results alone. */
  of: string;
}

/** Oldest first. */
export const compactionsOf = (branch: readonly TranscriptEntry[]): HostCompaction[] =>
  branch.flatMap((entry, at) => {
    if (entry.type === "compaction") return [ofHistory(entry)];
    // One that was written with a compaction is part of it.
    return isCompactionPrune(entry) && branch[at + 1]?.type !== "compaction"
      ? [ofResults(entry)]
      : [];
  });

const ofHistory = (entry: CompactionEntry): HostCompaction => ({
  at: entry.timestamp,
  trigger: triggerOf(entry),
  of: `${number(entry.tokensBefore)} tokens of messages`,
});

const ofResults = (entry: TranscriptEntry): HostCompaction => ({
  at: entry.timestamp,
  trigger: null,
  of: `${counted(pruneRecordOf(entry)?.entryIds.length ?? 0, "old tool result")} alone`,
});

function triggerOf({ details }: CompactionEntry): string | null {
  const trigger =
    typeof details === "object" && details !== null && "trigger" in details
      ? details.trigger
      : undefined;
  return typeof trigger === "string" ? trigger : null;
}
