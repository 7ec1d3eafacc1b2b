// Finds the copies of the lossless engine's databases below the home.
import { open, readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { isInScratch } from "./scratch-place.ts";

/** What each file of SQLite begins with, and where it says whose it is. */
const MAGIC = "SQLite format 3\0";
const OWNER_AT = 68;
const HEADER_BYTES = 72;
/** "clew": the mark of the engine. */
const OWNER = 0x636c6577;

/** Whatever they are called, those of agents that are gone too, but for the databases in use. */
export async function copiesBelow(
  home: string,
  databases: ReadonlySet<string>,
): Promise<readonly string[]> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || databases.has(file)) continue;
    if (isInScratch(relative(home, file).split(sep).join("/"))) continue;
    if (await isOfEngine(file)) found.push(file);
  }
  return found.sort();
}

async function isOfEngine(path: string): Promise<boolean> {
  const file = await open(path).catch(() => undefined);
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const { bytesRead } = (await file?.read(header, 0, HEADER_BYTES, 0)) ?? { bytesRead: 0 };
    return (
      bytesRead === HEADER_BYTES &&
      header.toString("latin1", 0, MAGIC.length) === MAGIC &&
      header.readUInt32BE(OWNER_AT) === OWNER
    );
  } finally {
    await file?.close();
  }
}
