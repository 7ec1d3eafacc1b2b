// Removes the parts of requests that no report names any more.
import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextRound } from "node:timers/promises";
import { namesOfParts } from "./report-lines.ts";

/** A part is stored before its report: a new one may be named soon. */
export const PART_GRACE_MS = 600_000;

/** Of a part that is being removed: nobody can rely on it, and it is there until that is sure. */
const GOING = ".going";

/**
 * `folder` is an agent's reports folder. Reads all its reports. Newer parts stay, also where one
 * becomes that while this runs: whoever wants a part that is there makes it new.
 */
export async function removeUnnamedParts(
  folder: string,
  { olderThanMs = 0, signal }: { olderThanMs?: number; signal?: AbortSignal } = {},
): Promise<void> {
  const before = olderThanMs === 0 ? Infinity : Date.now() - olderThanMs;
  const named = new Set<string>();
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith(".jsonl")) continue;
    // A session may have been deleted meanwhile.
    const text = await readFile(join(folder, name), "utf8").catch(() => "");
    for (const hash of namesOfParts(text)) named.add(hash);
    await nextRound();
    if (signal?.aborted) return;
  }
  const parts = join(folder, "parts");
  const isOld = async (file: string) =>
    ((await stat(file).catch(() => null))?.mtimeMs ?? Infinity) <= before;
  for (const name of await readdir(parts).catch(() => [])) {
    if (signal?.aborted) return;
    const hash = name.endsWith(GOING) ? name.slice(0, -GOING.length) : name;
    const [file, going] = [join(parts, hash), join(parts, `${hash}${GOING}`)];
    const mayGo = !named.has(hash);
    if (name === hash) {
      if (!mayGo || !(await isOld(file))) continue;
      await rename(file, going).catch(() => {});
    }
    if (mayGo && (await isOld(going))) await rm(going, { force: true });
    // It was wanted in between, or a process ended right here.
    else await rename(going, file).catch(() => {});
  }
}
