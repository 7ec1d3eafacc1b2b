// Loads a session file, by its checkpoint if that fits, else whole.
import { pause } from "@clew/plugin-sdk/host";
import { activeBranch } from "@clew/plugin-sdk/transcript";
import type { LoadedFile } from "./branch-file.ts";
import { makeCheckpoint } from "./checkpoint.ts";
import { growCheckpoint } from "./checkpoint-growth.ts";
import type { PlacedEntry } from "./checkpoint-lines.ts";
import { keepRead } from "./kept-entry.ts";
import { forgetLedger } from "./ledger-file.ts";
import { loadLate } from "./load-late.ts";
import { type MendedFile, readMended } from "./mended-file.ts";
import type { SessionNote } from "./notes.ts";
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
  const loaded = await keepWhole(await readMended(file));
  const { header, placed, size, branch, notes } = loaded;
  const isCompacted = branch.some(replacesHistory);
  if (header === undefined || placed === undefined || !isCompacted || size < checkpointFrom)
    return loaded;
  await makeCheckpoint(file, { header, placed, size });
  const late = await loadByCheckpoint(file);
  return late === undefined ? loaded : { ...late, notes };
}

/** A file that was read whole, its entries as they are kept. */
async function keepWhole({ entries, places, ...loaded }: MendedFile): Promise<LoadedSession> {
  await pause();
  const path = activeBranch(entries);
  await pause();
  const branch = await keepRead(path);
  await pause();
  const ids = new Set(entries.map(({ id }) => id));
  const kept = new Map(branch.map((entry) => [entry.id, entry]));
  await pause();
  const placed = places?.map(({ start, length }, index): PlacedEntry => {
    const entry = entries[index]!;
    return { entry: kept.get(entry.id) ?? entry, start, length };
  });
  const isClear = ids.size === entries.length;
  return { ...loaded, branch, placed: isClear ? placed : undefined, ids: () => ids };
}
