// Finds and reads the journals that stand beside sessions.
import { constants } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { closeSync, fstatSync, openSync, readSync, writeSync } from "../../own-files.ts";
import { agentPaths, doorJournalFile } from "../../sessions/paths.ts";
import { noteWrite } from "../../sessions/writes.ts";
import type { DoorJournals, JournalBounds } from "./door-journals.ts";
import { type ReadJournal, readJournal } from "./journal-lines.ts";

const ENDING = ".jsonl.door";

export { doorJournalFile as journalFile } from "../../sessions/paths.ts";

/** Beside the sessions of a home. */
export const fileJournals = (home: string): DoorJournals => ({
  all: (agentId, bounds) => readJournals(agentPaths(home, agentId).sessions, bounds),
  of({ sessionFile }) {
    const file = doorJournalFile(sessionFile);
    return { read: () => readOne(file), append: async (text) => appendTo(file, text) };
  },
});

/**
 * Journals of a folder of sessions, the one used longest ago first; of more than `maxBytes` those
 * used last.
 */
async function* readJournals(
  folder: string,
  { maxBytes, maxFiles }: JournalBounds,
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

async function readOne(file: string): Promise<ReadJournal | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : readJournal(text);
}

/** Neither flushed nor large, so that no other thread need be asked. */
export function appendTo(file: string, text: string): void {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const fd = openSync(file, flags, 0o600);
  try {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    const isTorn = size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== 10;
    const bytes = Buffer.from(isTorn ? `\n${text}` : text);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
  } finally {
    closeSync(fd);
    noteWrite(file);
  }
}
