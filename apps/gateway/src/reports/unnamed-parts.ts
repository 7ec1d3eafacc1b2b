// Removes the parts of requests that no report names any more.
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { plainLines } from "./report-lines.ts";

/** `folder` is an agent's reports folder. Reads all its reports. Newer parts stay. */
export async function removeUnnamedParts(
  folder: string,
  { olderThanMs = 0 }: { olderThanMs?: number } = {},
): Promise<void> {
  const before = olderThanMs === 0 ? Infinity : Date.now() - olderThanMs;
  const named = new Set<string>();
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith(".jsonl")) continue;
    const text = plainLines(await readFile(join(folder, name), "utf8"));
    for (const [hash] of text.matchAll(/[\w-]{16,}/g)) named.add(hash);
  }
  const parts = join(folder, "parts");
  for (const hash of await readdir(parts).catch(() => [])) {
    if (named.has(hash)) continue;
    const file = join(parts, hash);
    const stored = await stat(file).catch(() => undefined);
    if (stored === undefined || stored.mtimeMs <= before) await rm(file, { force: true });
  }
}
