// Replaces a file without ever leaving half of one.
import { constants } from "node:fs";
import { chmod, copyFile, open, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The two steps of a replacement that can fail through no fault of ours. */
export interface FileOperations {
  /** Puts the repaired file in place of the damaged one. */
  rename(from: string, to: string): Promise<void>;
  /** Removes the backup. */
  unlink(path: string): Promise<void>;
}

export const FILE_OPERATIONS: FileOperations = { rename, unlink };

export type Replacement =
  | { ok: true; backupPath?: string }
  | { ok: false; error: unknown; backupPath?: string };

/**
 * Writes `lines` in place of the file. Its mode is kept and its folder not touched; a backup that
 * could not be removed is named.
 */
export async function replaceFile(
  path: string,
  lines: AsyncIterable<string>,
  backupPath: string,
  files: FileOperations,
): Promise<Replacement> {
  try {
    const before = await stat(path);
    const mode = before.mode & 0o7777;
    await copyFile(path, backupPath, constants.COPYFILE_EXCL);
    const failure = await writeAndSwap().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const left = await removeBackup(backupPath, files);
    return failure === undefined ? { ok: true, ...left } : { ok: false, ...failure, ...left };

    async function writeAndSwap(): Promise<void> {
      await chmod(backupPath, mode);
      const temporary = join(
        dirname(path),
        `${basename(path)}.repair-${backupPath.split(".bak-").at(-1)}`,
      );
      try {
        await writeLines(temporary, mode, lines);
        const now = await stat(path);
        if (now.size !== before.size || now.mtimeMs !== before.mtimeMs)
          throw new Error("the file was written to meanwhile");
        await files.rename(temporary, path);
      } catch (error) {
        await unlink(temporary).catch(() => undefined);
        throw error;
      }
    }
  } catch (error) {
    return { ok: false, error };
  }
}

async function writeLines(path: string, mode: number, lines: AsyncIterable<string>): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    let batch = "";
    for await (const line of lines) {
      batch += `${line}\n`;
      if (batch.length < 1 << 16) continue;
      await file.appendFile(batch);
      batch = "";
    }
    await file.appendFile(batch);
    // The mode given to open() is narrowed by the process's mask.
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
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
