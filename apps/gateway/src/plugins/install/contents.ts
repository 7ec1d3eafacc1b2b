// Tells whether two folders hold the same files of a plugin.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { type InstallRecord, pluginsFolder } from "../find/records.ts";

/** What npm notes of its own work: another archive of the same files changes it. */
const NOTES_OF_NPM: ReadonlySet<string> = new Set([
  "package-lock.json",
  "node_modules/.package-lock.json",
]);

/** A hash of names and bytes, dependencies included; modes and times do not count. */
export function contentsOf(folder: string): string {
  const hash = createHash("sha256");
  const add = (below: string): void => {
    const entries = readdirSync(join(folder, below), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const name = below === "" ? entry.name : `${below}/${entry.name}`;
      if (NOTES_OF_NPM.has(name)) continue;
      if (entry.isDirectory()) add(name);
      else if (entry.isSymbolicLink())
        hash.update(`link ${JSON.stringify([name, readlinkSync(join(folder, name))])}\n`);
      else if (entry.isFile()) {
        const bytes = readFileSync(join(folder, name));
        hash.update(`file ${JSON.stringify([name, bytes.length])}\n`).update(bytes);
      }
    }
  };
  add("");
  return hash.digest("hex");
}

/** As it was installed: what the plugin itself wrote there since does not count. */
export function installedContents(
  home: string,
  pluginId: string,
  { contents }: InstallRecord,
): string | null {
  const folder = join(pluginsFolder(home), pluginId);
  return existsSync(folder) ? (contents ?? contentsOf(folder)) : null;
}
