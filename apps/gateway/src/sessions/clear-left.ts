// Clears away what killed processes left beside the session files of a home.
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { acquireLock, isInForce, readOwner, sweepDrafts } from "../locks/lock.ts";
import { listAgents } from "./list-sessions.ts";
import { agentPaths } from "./paths.ts";

/** What a list of sessions is written to before it takes the place of the one before. */
const LIST_DRAFT = /^sessions\.json\.\d+$/;
/** Nobody writes a list for so long. */
const OLD_MS = 60_000;

/** How many files were cleared away. What somebody has open stays; so does what cannot be read. */
export async function clearLeft(home: string, signal: AbortSignal): Promise<number> {
  let count = 0;
  for (const agentId of await listAgents(home)) {
    const folder = agentPaths(home, agentId).sessions;
    const names = await readdir(folder).catch(() => []);
    for (const name of names) {
      if (signal.aborted) return count;
      const file = join(folder, name);
      const isCleared = name.endsWith(".lock")
        ? await clearLock(file)
        : LIST_DRAFT.test(name) && (await clearOld(file));
      if (isCleared) count++;
    }
    await sweepDrafts(folder);
  }
  return count;
}

/** By taking it first: somebody else may do that in the same moment. */
async function clearLock(file: string): Promise<boolean> {
  const owner = await readOwner(file);
  if (owner === null || (await isInForce(owner))) return false;
  const outcome = await acquireLock(file, { passing: true });
  if (outcome.held) await outcome.lock.release();
  return outcome.held;
}

async function clearOld(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || Date.now() - found.mtimeMs < OLD_MS) return false;
  return rm(file).then(
    () => true,
    () => false,
  );
}
