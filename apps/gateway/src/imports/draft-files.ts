// Tells the half-written files of imports that were killed from those of imports that run.
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isInForce, readOwner } from "../locks/lock.ts";

/** A draft and its lock, which its import takes first and gives up last. */
const DRAFT = /\.jsonl\.import-[0-9a-f-]{36}(?:\.lock)?$/;
/** A draft without a lock is of an older Clew, which may run; it writes more often, ms. */
const SILENT_MS = 60_000;

export const draftOf = (sessionFile: string, id: string): string => `${sessionFile}.import-${id}`;

export const lockOfDraft = (draft: string): string => `${draft}.lock`;

/** Drafts and their locks whose process is gone. */
export async function findAbandonedDrafts(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => DRAFT.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      return (await isAbandoned(file)) ? [file] : [];
    }),
  );
  return found.flat();
}

export async function sweepDrafts(folder: string): Promise<void> {
  for (const file of await findAbandonedDrafts(folder)) await rm(file, { force: true });
}

async function isAbandoned(file: string): Promise<boolean> {
  const owner = await readOwner(file.endsWith(".lock") ? file : lockOfDraft(file));
  if (owner !== null) return !(await isInForce(owner));
  const found = await lstat(file).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > SILENT_MS;
}
