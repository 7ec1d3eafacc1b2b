// Loads a session file, by its checkpoint if that fits, else whole.
import { inSlices, pause } from "@clew/plugin-sdk/host";
import { activeBranch, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { LoadedFile } from "./branch-file.ts";
import { makeCheckpoint } from "./checkpoint.ts";
import { growCheckpoint } from "./checkpoint-growth.ts";
import type { LinePlace, PlacedEntry } from "./checkpoint-lines.ts";
import { ENTRY_BYTES } from "./entry-bytes.ts";
import { keepRead } from "./kept-entry.ts";
import { forgetLedger } from "./ledger-file.ts";
import { loadLate } from "./load-late.ts";
import { type MendedFile, readMended } from "./mended-file.ts";
import type { SessionNote } from "./notes.ts";
import { readShort } from "./read-short.ts";
import { replacesHistory } from "./shown-part.ts";

/** A session file that was loaded, and what had to be done for that. */
export interface LoadedSession extends LoadedFile {
  /** For the log. */
  notes: SessionNote[];
}

/**
 * To be called under the session's lock. Smaller files than `checkpointFrom`, in bytes, need no
 * checkpoint. Throws TRANSCRIPT_UNREADABLE, STORAGE_FAILED.
 */
export const loadSession = async (file: string, checkpointFrom: number): Promise<LoadedSession> =>
  (await loadByCheckpoint(file)) ??
  ((await growCheckpoint(file)) ? await loadByCheckpoint(file) : undefined) ??
  loadWhole(file, checkpointFrom);

/** A file that is as we left it was mended then. */
async function loadByCheckpoint(file: string): Promise<LoadedSession | undefined> {
  const late = await loadLate(file);
  if (late === undefined) return undefined;
  const { checkpoint, branch, placed, heldBytes } = late;
  const { header, stamp, lines } = checkpoint;
  const ids = () => new Set(placed.map(({ entry }) => entry.id));
  const current = { stamp, lines: lines.length };
  return { header, branch, placed, ids, size: stamp.size, heldBytes, notes: [], current };
}

/** What lies before a compaction need not stay in memory, once there is a checkpoint. */
async function loadWhole(file: string, checkpointFrom: number): Promise<LoadedSession> {
  await forgetLedger(file);
  const loaded = await readLoaded(file);
  const { header, placed, size, branch, notes } = loaded;
  const isCompacted = branch.some(replacesHistory);
  if (header === undefined || placed === undefined || !isCompacted || size < checkpointFrom)
    return loaded;
  await makeCheckpoint(file, { header, placed, size });
  const late = await loadByCheckpoint(file);
  return late === undefined ? loaded : { ...late, notes };
}

/** Of a large file only what is short in it stays in memory. */
async function readLoaded(file: string): Promise<LoadedSession> {
  const short = await readShort(file);
  const loaded = await keepWhole(await readMended(file, { onEntry: short?.onEntry }));
  const textBytes = Math.max(0, loaded.size - (short?.droppedBytes() ?? 0));
  return { ...loaded, heldBytes: textBytes + ENTRY_BYTES * loaded.branch.length };
}

/** A file that was read whole, its entries as they are kept. */
async function keepWhole({
  entries,
  places,
  ...loaded
}: MendedFile): Promise<Omit<LoadedSession, "heldBytes">> {
  await pause();
  const path = activeBranch(entries);
  await pause();
  const branch = await keepRead(path);
  const ids = new Set<string>();
  await inSlices(entries, ({ id }) => ids.add(id));
  const isClear = ids.size === entries.length;
  const placed = places && isClear ? await placeKept({ entries, places, branch }) : undefined;
  return { ...loaded, branch, placed, ids: () => ids };
}

/** Each entry where it stands; those of the branch as they are kept. */
async function placeKept({
  entries,
  places,
  branch,
}: {
  entries: readonly TranscriptEntry[];
  places: readonly LinePlace[];
  branch: readonly TranscriptEntry[];
}): Promise<PlacedEntry[]> {
  const kept = new Map<string, TranscriptEntry>();
  // In most files every entry is of the branch, in the same order.
  const isBranch =
    branch.length === entries.length && branch.every(({ id }, at) => id === entries[at]!.id);
  if (!isBranch) await inSlices(branch, (entry) => kept.set(entry.id, entry));
  const placed: PlacedEntry[] = [];
  await inSlices(places, ({ start, length }) => {
    const entry = entries[placed.length]!;
    const own = isBranch ? branch[placed.length] : kept.get(entry.id);
    placed.push({ entry: own ?? entry, start, length });
  });
  return placed;
}
