// Makes the home folder and finds out whether it can be written.
import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { storageFailed } from "../storage-error.ts";

const PROBE_BYTES = 4096;

/** Throws STORAGE_FAILED when no file can be written in `home`. */
export async function prepareHome(home: string): Promise<void> {
  try {
    await makeFolder(home);
    await probe(home);
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== "string") throw error;
    throw storageFailed(`The home ${home} cannot be written`, error);
  }
}

/** One level at a time: below folders such as /proc, Node's recursive mkdir never returns. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A file in its place is found out by writing below it.
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await mkdir(folder, { mode: 0o700 });
  }
}

/** Permissions do not tell about full disks and read-only file systems; writing does. */
async function probe(folder: string): Promise<void> {
  const file = join(folder, `.probe-${randomUUID()}`);
  try {
    await writeFile(file, Buffer.alloc(PROBE_BYTES), { flag: "wx", mode: 0o600 });
  } finally {
    await rm(file, { force: true });
  }
}
