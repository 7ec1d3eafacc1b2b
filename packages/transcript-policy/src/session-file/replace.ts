// Replaces a file without ever leaving half of one.
import { hash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import {
  copyFile,
  type FileHandle,
  link,
  open,
  readFile,
  rename,
  rm,
  stat,
  unlink,
} from "node:fs/promises";
import { dirname } from "node:path";
import { leftoverNames, whileInUse } from "./leftovers.ts";

/** The two steps of a replacement that can fail through no fault of ours. */
export interface FileOperations {
  /** Puts the repaired file in place of the damaged one. */
  rename(from: string, to: string): Promise<void>;
  /** Removes the backup. */
  unlink(path: string): Promise<void>;
}

export const FILE_OPERATIONS: FileOperations = { rename, unlink };

export interface ReplaceRequest {
  path: string;
  /** The file as it was when it was read. */
  before: Stats;
  /** What it shall hold. */
  bytes: AsyncIterable<Buffer>;
  /** What it held and shall not; empty: nothing is kept. */
  rests: readonly Buffer[];
  /** ms since the epoch; part of names. */
  now: number;
  files: FileOperations;
}

/** What stays beside the file. */
interface Left {
  /** The rests. Absent: there were none. */
  keptIn?: string;
  /** The original, when its copy could not be removed. Absent: it is gone. */
  backupPath?: string;
}

export type Replacement =
  | ({ ok: true } & Left)
  | { ok: false; error: unknown; backupPath?: string };

/**
 * Writes `bytes` in place of the file. Its mode and owner are kept and its folder is not touched.
 * At any moment the file is the old or the new one, whole, and on disk before the old one goes.
 */
export async function replaceFile(request: ReplaceRequest): Promise<Replacement> {
  const { path, now } = request;
  const names = leftoverNames(path, `${process.pid}-${now}`);
  return whileInUse(Object.values(names), async () => {
    let kept: Kept | undefined;
    try {
      if ((request.before.mode & 0o222) === 0) throw new Error("the file is read-only");
      kept = await keepRests(request);
      await linkOrCopy(path, names.backup);
    } catch (error) {
      await forget(kept);
      return { ok: false, error };
    }
    const failure = await swap(request, names).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (failure !== undefined) {
      await forget(kept);
      return { ok: false, ...failure, ...(await removeBackup(names.backup, request.files)) };
    }
    const left =
      (await takeOver(request, names.backup)) ?? (await removeBackup(names.backup, request.files));
    return { ok: true, ...(kept !== undefined && { keptIn: kept.path }), ...left };
  });
}

async function swap(
  { path, before, bytes, files }: ReplaceRequest,
  { temporary }: ReturnType<typeof leftoverNames>,
): Promise<void> {
  try {
    await writeNew(temporary, async (file) => {
      for await (const piece of bytes) await file.appendFile(piece);
      // Only a superuser may give a file away, and others need not.
      await file.chown(before.uid, before.gid).catch(() => undefined);
      // The mode given to open() is narrowed by the process's mask.
      await file.chmod(before.mode & 0o7777);
    });
    if (!isSame(await stat(path), before)) throw new Error("the file was written to meanwhile");
    await files.rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

/** True for a file nobody wrote to. */
export const isSame = (now: Stats, before: Stats): boolean =>
  now.ino === before.ino && now.size === before.size && now.mtimeMs === before.mtimeMs;

/**
 * Appends what another process appended to the original between our last look and the replacement.
 * Where that fails, the original stays, under a name nobody takes for a leftover.
 */
async function takeOver(
  { path, before }: ReplaceRequest,
  backup: string,
): Promise<{ backupPath: string } | undefined> {
  try {
    if ((await stat(backup)).size <= before.size) return undefined;
    const late = (await readFile(backup)).subarray(before.size);
    const file = await open(path, "a");
    try {
      await file.appendFile(late);
      await file.sync();
    } finally {
      await file.close();
    }
    return undefined;
  } catch {
    const backupPath = backup.replace(/\.bak-([\d-]+)$/, ".original-$1");
    await rename(backup, backupPath).catch(() => undefined);
    return { backupPath };
  }
}

/** A link costs nothing, and sees what is appended until the end. Not every disk has links. */
async function linkOrCopy(path: string, backup: string): Promise<void> {
  await link(path, backup).catch(() => copyFile(path, backup, constants.COPYFILE_EXCL));
}

interface Kept {
  path: string;
  /** False: an earlier repair that was killed had kept the same. */
  isNew: boolean;
}

/** Named by what it holds, so that a repair that is tried again keeps it once. */
async function keepRests({ path, rests }: ReplaceRequest): Promise<Kept | undefined> {
  if (rests.length === 0) return undefined;
  const bytes = Buffer.concat(rests.flatMap((rest) => [rest, Buffer.from("\n")]));
  const keptIn = `${path}.removed-${hash("sha1", bytes).slice(0, 12)}`;
  const held = await readFile(keptIn).catch(() => undefined);
  if (held?.equals(bytes) === true) return { path: keptIn, isNew: false };
  if (held !== undefined) await rm(keptIn);
  try {
    await writeNew(keptIn, (file) => file.appendFile(bytes));
  } catch (error) {
    await forget({ path: keptIn, isNew: true });
    throw error;
  }
  return { path: keptIn, isNew: true };
}

async function forget(kept: Kept | undefined): Promise<void> {
  if (kept?.isNew === true) await rm(kept.path, { force: true }).catch(() => undefined);
}

/** On disk, or not to be relied on. */
async function writeNew(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** As far as the system does. The replacement is made, and whole, without it. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

async function removeBackup(
  backupPath: string,
  files: FileOperations,
): Promise<{ backupPath?: string }> {
  try {
    await files.unlink(backupPath);
    return {};
  } catch {
    return { backupPath };
  }
}
