// Opens a session file by its checkpoint: what the context shows is read, the rest when asked for.
import { inSlices } from "@clew/plugin-sdk/host";
import { activeBranch, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { type Checkpoint, currentCheckpoint } from "./checkpoint.ts";
import { fileLines, type LateEntry, lateEntry } from "./late-entry.ts";

export interface LateTranscript {
  checkpoint: Checkpoint;
  /** In file order; what they hold is read when it is asked for. */
  entries: TranscriptEntry[];
}

/** Undefined when there is no checkpoint that fits the file. */
export async function loadLate(sessionFile: string): Promise<LateTranscript | undefined> {
  const checkpoint = await currentCheckpoint(sessionFile);
  if (checkpoint === undefined) return undefined;
  const source = fileLines(sessionFile);
  const late: LateEntry[] = [];
  await inSlices(checkpoint.rows, (row) => late.push(lateEntry(row, source)));
  const entries = late.map(({ entry }) => entry);
  const shown = new Set(shownPart(activeBranch(entries)));
  await inSlices(late, ({ entry, hold }) => {
    if (shown.has(entry)) hold();
  });
  return { checkpoint, entries };
}

/** What the newest compaction or reset left of a branch, from the first entry that it kept on. */
function shownPart(branch: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const boundary = branch.findLastIndex(({ type }) => type === "compaction" || type === "reset");
  const newest = branch[boundary];
  if (newest?.type !== "compaction" && newest?.type !== "reset") return branch;
  const keptFrom = branch.findIndex(({ id }) => id === newest.firstKeptEntryId);
  return branch.slice(keptFrom < 0 ? boundary : Math.min(keptFrom, boundary));
}
