// Writes bytes to an open file, and leaves the loop only with many of them.
import type { FileHandle } from "node:fs/promises";
import { writeSync } from "../own-files.ts";

/** So many take the system microseconds: not worth the way to another thread and back. */
export const FEW_BYTES = 64 * 1024;

type OpenFile = Pick<FileHandle, "fd" | "write">;

/** All of them, at `position`; null: at the end of a file that was opened so. Flushes nothing. */
export async function writeBytes(
  file: OpenFile,
  bytes: Uint8Array,
  position: number | null,
): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const left = bytes.length - done;
    const at = position === null ? null : position + done;
    const written =
      left <= FEW_BYTES
        ? writeSync(file.fd, bytes, done, left, at)
        : (await file.write(bytes, done, left, at)).bytesWritten;
    if (written === 0) throw new Error("nothing could be written");
    done += written;
  }
}
