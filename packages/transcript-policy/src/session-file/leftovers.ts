// Finds and removes what repairs left that were killed.
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Names of files that exist while a repair runs: a copy of the original, and the repaired file. */
export const leftoverNames = (path: string, stamp: string) => ({
  backup: `${path}.bak-${stamp}`,
  temporary: `${path}.repair-${stamp}`,
});

const NAME = /^(?<file>.+)\.(?:bak|repair)-(?<pid>\d+)-\d+$/;

/** Of repairs that run in this process. A process may have the id of one that was killed. */
const inUse = new Set<string>();

/** `work` with names that are nobody's leftovers meanwhile. */
export async function whileInUse<Result>(
  names: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  for (const name of names) inUse.add(name);
  try {
    return await work();
  } finally {
    for (const name of names) inUse.delete(name);
  }
}

/**
 * Files in `folder` that repairs left whose processes are gone. The session file is as it was
 * before or after, so nobody needs them.
 */
export async function findRepairLeftovers(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.map((name) => join(folder, name)).filter((path) => isLeftover(path));
}

/** Removes those of one session file; resolves with how many there were. */
export async function sweepLeftovers(path: string): Promise<number> {
  const found = await findRepairLeftovers(dirname(path));
  const own = found.filter((each) => NAME.exec(basename(each))?.groups?.file === basename(path));
  await Promise.all(own.map((each) => rm(each, { force: true })));
  return own.length;
}

function isLeftover(path: string): boolean {
  const pid = NAME.exec(basename(path))?.groups?.pid;
  if (pid === undefined || inUse.has(path)) return false;
  return Number(pid) === process.pid || !isRunning(Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
