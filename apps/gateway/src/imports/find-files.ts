// Finds the transcripts in a folder, in the order of their names, and follows no link.
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileNotFound } from "../file-not-found.ts";
import { storageFailed } from "../storage-error.ts";

export interface FoundFiles {
  files: { file: string; isNamed: boolean }[];
  /** Links, and files whose names end otherwise. */
  passedOver: number;
}

/** Indexes of stores, which hold no transcript. */
const NOT_TRANSCRIPTS = new Set(["sessions.json", "sessions-index.json", "history.jsonl"]);

/** A file that is named counts, whatever its name. Throws FILE_NOT_FOUND, STORAGE_FAILED. */
export async function findFiles(places: readonly string[]): Promise<FoundFiles> {
  const found: FoundFiles = { files: [], passedOver: 0 };
  const seen = new Set<string>();
  const add = (file: string, isNamed: boolean) => {
    if (seen.has(file)) return;
    seen.add(file);
    found.files.push({ file, isNamed });
  };
  const walk = async (folder: string): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      throw storageFailed(`${folder} cannot be read`, error, "elsewhere");
    });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) await walk(path);
      else if (entry.isFile() && isTranscript(entry.name)) add(path, false);
      else found.passedOver++;
    }
  };
  for (const place of places) {
    const stat = await lstat(place).catch((error: unknown) => {
      throw fileNotFound(place, error);
    });
    if (stat.isDirectory()) await walk(place);
    else add(place, true);
  }
  return found;
}

const isTranscript = (name: string): boolean =>
  /\.jsonl?$/i.test(name) && !NOT_TRANSCRIPTS.has(name);
