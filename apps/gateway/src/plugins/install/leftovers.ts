// Finds and clears what an install left behind that was killed.
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { pluginsFolder, readRecords } from "../find/records.ts";

/** Folders of its own. */
const LEFTOVER = /^\.(staging|replaced|trial)-[0-9a-f]+$/;

/** A file that was to take the place of its records; a young one may be somebody's yet. */
const DRAFT = /^installs\.json\.\d+$/;
const DRAFT_MS = 60_000;

/** Absolute paths. While an install runs they are its own. */
export function findLeftovers(home: string): string[] {
  const folder = pluginsFolder(home);
  const isOld = (name: string) => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    return found !== undefined && Date.now() - found.mtimeMs > DRAFT_MS;
  };
  try {
    return readdirSync(folder)
      .filter((name) => LEFTOVER.test(name) || (DRAFT.test(name) && isOld(name)))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Only under the lock of installs. An old version whose new one never came is put back. */
export function clearLeftovers(home: string): void {
  for (const folder of findLeftovers(home)) {
    const place = LEFTOVER.exec(basename(folder))?.[1] === "replaced" ? missingPlugin(home) : null;
    if (place === null) rmSync(folder, { recursive: true, force: true });
    else renameSync(folder, place);
  }
}

/** Installs are made one at a time, so only one plugin can lack its folder for this reason. */
function missingPlugin(home: string): string | null {
  const places = Object.entries(readRecords(home).plugins)
    .filter(([, { source }]) => source !== "link")
    .map(([id]) => join(pluginsFolder(home), id))
    .filter((place) => !existsSync(place));
  return places.length === 1 ? places[0]! : null;
}
