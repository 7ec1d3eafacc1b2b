// Brings the copy of a session in a file up to what PostgreSQL has of it.
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { TO_APPEND, TO_REPLACE } from "../../home/no-links.ts";
import { toJson } from "../../own-json.ts";
import { readFilePart } from "../../sessions/file-lines.ts";
import { headerOf } from "../../sessions/open.ts";
import { readNewest } from "../../sessions/read-newest.ts";
import { noteWrite } from "../../sessions/writes.ts";

/** What the database has of a session. */
export interface FollowedLog {
  session: { agentId: string; sessionId: string; sessionKey: string };
  /** How many entries, of all branches. */
  head: number;
  lastEntry: string | null;
  /** The first line of its file; null = nobody said. */
  header: string | null;
  /** Lines behind a place of the log. */
  read(after: number, limit: number): Promise<readonly { seq: number; body: string }[]>;
  /** Where an entry stands in the log; null: it is not there. */
  placeOf(entryId: string): Promise<number | null>;
}

const LINES_AT_A_TIME = 500;
const LINE_FEED = 10;

/**
 * A copy only ever lacks what was stored last: it is written to after the database. One whose end
 * is not in the log is made anew.
 */
export async function followLog(file: string, log: FollowedLog): Promise<void> {
  if (log.head === 0) return rm(file, { force: true });
  const newest = await newestIn(file);
  if (newest !== undefined && newest === log.lastEntry) return;
  const place = newest === undefined ? null : await log.placeOf(newest);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  try {
    if (place !== null) return await appendLines(file, TO_APPEND, { log, after: place, first: "" });
    const fresh = `${file}.new`;
    await appendLines(fresh, TO_REPLACE, { log, after: 0, first: `${firstLineOf(log)}\n` });
    await rename(fresh, file);
  } finally {
    noteWrite(file);
  }
}

async function appendLines(
  file: string,
  flags: number,
  { log, after, first }: { log: FollowedLog; after: number; first: string },
): Promise<void> {
  const handle = await open(file, flags, 0o600);
  try {
    let text = first;
    for (let at = after; ; ) {
      const lines = await log.read(at, LINES_AT_A_TIME);
      text += lines.map(({ body }) => `${body}\n`).join("");
      if (text !== "") await handle.appendFile(text);
      text = "";
      at = lines.at(-1)?.seq ?? at;
      if (lines.length < LINES_AT_A_TIME) return;
    }
  } finally {
    await handle.close();
  }
}

/** Undefined: it is not there, or its end is not whole. */
async function newestIn(file: string): Promise<string | undefined> {
  try {
    const newest = await readNewest(file, () => true);
    if (newest === undefined) return undefined;
    const { size } = await stat(file);
    const [last] = await readFilePart(file, size - 1, size);
    return last === LINE_FEED ? newest.entries.at(-1)?.id : undefined;
  } catch {
    return undefined;
  }
}

const firstLineOf = ({ header, session }: FollowedLog): string =>
  header ?? toJson(headerOf(session, "", Date.now()));
