// Finds and clears what an install left behind that was killed.
import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { pluginsFolder, readRecords } from "../find/records.ts";

/** Folders of its own, and a file that was to take the place of its records. */
const LEFTOVER = /^(?:\.(staging|replaced|trial)-[0-9a-f]+|installs\.json\.\d+)$/;

/** Absolute paths. While an install runs they are its own. */
export function findLeftovers(home: string): string[] {
  try {
    return readdirSync(pluginsFolder(home))
      .filter((name) => LEFTOVER.test(name))
      .map((name) => join(pluginsFolder(home), name));
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
