// Finds and reads the journals that stand beside sessions.
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { type ReadJournal, readJournal } from "./journal-lines.ts";

const ENDING = ".jsonl.door";

export { doorJournalFile as journalFile } from "../../sessions/paths.ts";

/**
 * Journals of a folder of sessions, the one used longest ago first; of more than `maxBytes` those
 * used last.
 */
export async function* readJournals(
  folder: string,
  { maxBytes, maxFiles }: { maxBytes: number; maxFiles: number },
): AsyncGenerator<ReadJournal> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(ENDING));
  const files: { file: string; size: number; usedAt: number }[] = [];
  for (const name of names) {
    const file = join(folder, name);
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile()) files.push({ file, size: found.size, usedAt: found.mtimeMs });
  }
  files.sort((a, b) => b.usedAt - a.usedAt);
  let left = maxBytes;
  const kept = files.slice(0, maxFiles).filter(({ size }) => {
    left -= size;
    return left >= 0;
  });
  for (const { file } of kept.reverse()) {
    const journal = await readOne(file);
    if (journal !== undefined) yield journal;
  }
}

export async function readOne(file: string): Promise<ReadJournal | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : readJournal(text);
}
