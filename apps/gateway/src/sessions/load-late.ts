// Opens a session file by its checkpoint, and reads of it what the context shows.
import { inSlices } from "@clew/plugin-sdk/host";
import { activeBranch, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { type Checkpoint, currentCheckpoint } from "./checkpoint.ts";
import { forEachRow, isLinear } from "./checkpoint-lines.ts";
import { ENTRY_BYTES, ROW_BYTES } from "./entry-bytes.ts";
import { LateEntry } from "./late-entry.ts";
import { EntryLines } from "./late-line.ts";
import { shortBytes } from "./late-message.ts";
import { MAX_HELD_BYTES } from "./read-short.ts";
import { shownPart } from "./shown-part.ts";

export interface LateTranscript {
  checkpoint: Checkpoint;
  /** In file order; what they hold is read when it is asked for. */
  placed: LateEntry[];
  /** The active branch. */
  branch: TranscriptEntry[];
  /** What it takes in memory. */
  heldBytes: number;
}

/** Undefined when there is no checkpoint that fits the file. */
export async function loadLate(sessionFile: string): Promise<LateTranscript | undefined> {
  const checkpoint = await currentCheckpoint(sessionFile);
  if (checkpoint === undefined) return undefined;
  const { lines } = checkpoint;
  const source = new EntryLines(sessionFile);
  const placed: LateEntry[] = [];
  const entries: TranscriptEntry[] = [];
  await inSlices(lines, (line) =>
    forEachRow(line, entries.at(-1)?.id ?? null, (row) => {
      const late = new LateEntry(row, source);
      placed.push(late);
      entries.push(late.entry);
    }),
  );
  const branch = lines.every(isLinear) ? entries : activeBranch(entries);
  const shown = shownPart(branch);
  const first = shown[0];
  const isShown = branch === entries ? undefined : new Set(shown);
  let heldBytes = ROW_BYTES * placed.length;
  // What is shown is at the end of the file, but for branches that were left.
  const from = first === undefined ? placed.length : entries.lastIndexOf(first);
  const shownLate = placed.slice(from).filter(({ entry }) => isShown?.has(entry) !== false);
  const isLarge = shownLate.reduce((sum, { length }) => sum + length, 0) > MAX_HELD_BYTES;
  await inSlices(shownLate, (late) => {
    if (isLarge) late.holdShort();
    else late.hold();
    heldBytes += ENTRY_BYTES + (isLarge ? shortBytes(late) : late.length);
  });
  return { checkpoint, placed, branch, heldBytes };
}
