// An append-only file in which a failed write leaves no byte behind.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { NO_LINK } from "../home/no-links.ts";
import { fstatSync, lstatSync, open, rm } from "../own-files.ts";
import { storageFailed } from "../storage-error.ts";
import { writeBytes } from "./write-bytes.ts";
import { noteWrite } from "./writes.ts";

export type MovedFile = "replaced" | "removed" | "changed";

export interface DurableFile {
  /** Bytes up to the end of the last durable write. */
  readonly size: number;
  /**
   * Writes at the end and flushes. Calls must not overlap. Throws
   * STORAGE_FAILED or TRANSCRIPT_MOVED.
   */
  append(text: string): Promise<void>;
  /** What another program did to it since; null = nothing. */
  moved(): MovedFile | null;
  close(): Promise<void>;
}

/** A link would have it written where somebody else wants it to. */
const TO_WRITE = constants.O_RDWR | constants.O_CREAT | NO_LINK;

/**
 * `file` is created by the first append when it is not there; `size` is how
 * many of its bytes are good. What is kept elsewhere (`isCopy`) is not flushed.
 */
export function durableFile(
  file: string,
  initialSize: number,
  { isCopy = false }: { isCopy?: boolean } = {},
): DurableFile {
  let handle: FileHandle | undefined;
  let size = initialSize;
  /** Of what was read, or is written to. */
  let inode = inodeOf(file);

  const openHandle = async () => {
    if (handle !== undefined) return handle;
    handle = await open(file, TO_WRITE, 0o600);
    if (size === 0) inode = fstatSync(handle.fd).ino;
    return handle;
  };
  const moved = (): MovedFile | null => {
    // One system call: not worth the way to another thread and back.
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found === undefined) return size === 0 ? null : "removed";
    if (found.size !== size) return "changed";
    return size > 0 && found.ino !== inode ? "replaced" : null;
  };

  return {
    get size() {
      return size;
    },
    moved,
    async append(text) {
      const bytes = Buffer.from(text, "utf8");
      const isNew = size === 0;
      const target = await openHandle().catch((error: unknown) => {
        throw unwritable(file, error);
      });
      const how = moved();
      if (how !== null) throw movedError(file, how);
      try {
        await writeBytes(target, bytes, size);
        if (!isCopy) await target.datasync();
        if (isNew && !isCopy) await syncFolder(dirname(file));
      } catch (error) {
        await undo(target, file, size);
        if (isNew) {
          handle = undefined;
          await target.close();
        }
        throw unwritable(file, error);
      } finally {
        noteWrite(file);
      }
      size += bytes.length;
    },
    async close() {
      const open = handle;
      handle = undefined;
      await open?.close();
    },
  };
}

/** Makes `bytes` durable in a new file beside `file`, e.g. `<file>.torn-…`; its path. */
export async function keepBeside(file: string, why: string, bytes: Uint8Array): Promise<string> {
  const keptIn = `${file}.${why}-${Date.now()}-${randomBytes(3).toString("hex")}`;
  const handle = await open(keptIn, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return keptIn;
}

/** Back to the last good byte. What cannot be undone is repaired at the next open. */
async function undo(handle: FileHandle, file: string, size: number): Promise<void> {
  try {
    if (size === 0) await rm(file, { force: true });
    else await handle.truncate(size);
  } catch {
    // The torn line stays; opening the session again sets it aside.
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

const unwritable = (file: string, error: unknown): ContextEngineError =>
  storageFailed(`The session file ${file} could not be written, and nothing was stored`, error);

/**
 * An error of the file system while a session was opened, as one sentence; anything else as it is.
 */
export function explainStorageError(error: unknown, folder: string): unknown {
  if (
    ContextEngineError.is(error) ||
    typeof (error as NodeJS.ErrnoException | null)?.code !== "string"
  )
    return error;
  return storageFailed(`The session cannot be opened in ${folder}`, error);
}

const inodeOf = (file: string): number => lstatSync(file, { throwIfNoEntry: false })?.ino ?? 0;

function movedError(file: string, how: MovedFile): ContextEngineError {
  return new ContextEngineError(
    "TRANSCRIPT_MOVED",
    `The session file ${file} was ${how} by another program; nothing was written. Say it again: the file is read anew first.`,
  );
}
