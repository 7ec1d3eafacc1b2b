// Finds and reads the journals that stand beside sessions.
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { appendNow } from "../../sessions/append-now.ts";
import { agentPaths, doorJournalFile } from "../../sessions/paths.ts";
import type { DoorJournals, JournalBounds } from "../../storage/door-journals.ts";

const ENDING = ".jsonl.door";

export { doorJournalFile as journalFile } from "../../sessions/paths.ts";

/** Beside the sessions of a home. */
export const fileJournals = (home: string): DoorJournals => ({
  all: (agentId, bounds) => readJournals(agentPaths(home, agentId).sessions, bounds),
  of({ sessionFile }) {
    const file = doorJournalFile(sessionFile);
    return { read: () => readOne(file), append: async (text) => appendNow(file, text) };
  },
});

/**
 * Journals of a folder of sessions, the one used longest ago first; of more than `maxBytes` those
 * used last.
 */
async function* readJournals(
  folder: string,
  { maxBytes, maxFiles }: JournalBounds,
): AsyncGenerator<string> {
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

const readOne = (file: string): Promise<string | undefined> =>
  readFile(file, "utf8").catch(() => undefined);
