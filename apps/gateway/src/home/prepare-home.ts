// Makes the home folder, or says why it cannot be written.
import { randomUUID } from "node:crypto";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { storageAdvice, storageReason } from "../storage-error.ts";

const PROBE_BYTES = 4096;

/** Null when files can be written in `home`; else one sentence with the next step. */
export async function prepareHome(home: string): Promise<string | null> {
  try {
    await makeFolder(home);
    await probe(home);
    return null;
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== "string") throw error;
    return `Clew cannot keep its files in ${home}: ${storageReason(error)}; ${storageAdvice(error)}.`;
  }
}

/** One level at a time: below folders such as /proc, Node's recursive mkdir never returns. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return assertFolder(folder);
    if (code !== "ENOENT" || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await mkdir(folder, { mode: 0o700 });
  }
}

async function assertFolder(path: string): Promise<void> {
  if ((await stat(path)).isDirectory()) return;
  throw Object.assign(new Error(`${path} is not a folder`), { code: "ENOTDIR" });
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
