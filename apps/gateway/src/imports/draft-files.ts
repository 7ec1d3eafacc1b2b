// Tells the half-written files of imports that were killed from those of imports that run.
import { createHash } from "node:crypto";
import { lstat, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { acquireLock, isInForce, readOwner } from "../locks/lock.ts";

/** A draft and its lock, which its import takes first and gives up last. */
const DRAFT = /\.jsonl\.import-[0-9a-f-]{36}(?:\.lock)?$/;
/** Of a session that an import puts in its place. */
const SESSION_LOCK = /^import-[0-9a-f]{32}\.lock$/;
/** A draft without a lock is of an older Clew, which may run; it writes more often, ms. */
const SILENT_MS = 60_000;

export const draftOf = (sessionFile: string, id: string): string => `${sessionFile}.import-${id}`;

export const lockOfDraft = (draft: string): string => `${draft}.lock`;

/** While it is held nobody else puts a session of that name in its place. */
export function lockOfSession(folder: string, key: string): string {
  const hash = createHash("sha256").update(key).digest("hex").slice(0, 32);
  return join(folder, `import-${hash}.lock`);
}

/** Drafts and locks of imports whose process is gone. */
export async function findAbandoned(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => DRAFT.test(name) || SESSION_LOCK.test(name),
  );
  const found = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      return (await isAbandoned(file)) ? [file] : [];
    }),
  );
  return found.flat();
}

export async function removeAbandoned(folder: string): Promise<void> {
  for (const file of await findAbandoned(folder))
    if (SESSION_LOCK.test(basename(file))) await freeLock(file);
    else await rm(file, { force: true });
}

/** Another import may take it over just now, so it is taken over as well. */
async function freeLock(file: string): Promise<void> {
  const outcome = await acquireLock(file);
  if (outcome.held) await outcome.lock.release();
}

async function isAbandoned(file: string): Promise<boolean> {
  const owner = await readOwner(file.endsWith(".lock") ? file : lockOfDraft(file));
  if (owner !== null) return !(await isInForce(owner));
  const found = await lstat(file).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > SILENT_MS;
}
