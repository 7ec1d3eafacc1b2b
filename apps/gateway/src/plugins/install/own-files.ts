// Notices what a plugin does to its own files while it is tried.
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** What others make, and may be large. */
const PASSED_OVER: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** Files and links below `root` by name, each with what changes when it is written. */
export function lookAtFiles(root: string, below = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of entriesOf(join(root, below))) {
    if (PASSED_OVER.has(entry.name)) continue;
    const name = join(below, entry.name);
    if (entry.isDirectory()) for (const each of lookAtFiles(root, name)) found.set(...each);
    else {
      const stats = lstatSync(join(root, name), { bigint: true, throwIfNoEntry: false });
      if (stats !== undefined) found.set(name, `${stats.ino} ${stats.size} ${stats.ctimeNs}`);
    }
  }
  return found;
}

/** None of a folder that was removed: a plugin may do that to its own. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Pure. The first that is gone or written anew; a new one, as of a cache, is none. */
export function firstChanged(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string | null {
  for (const [name, state] of before) if (after.get(name) !== state) return name;
  return null;
}
