// Reads lines of a session file at once, for those who cannot wait.
import { closeSync, openSync, readSync } from "node:fs";
import { storageFailed } from "../storage-error.ts";
import type { LinePlace } from "./checkpoint-lines.ts";

export interface LineSource {
  /** Throws STORAGE_FAILED. */
  read(place: LinePlace): string;
}

/** Lines asked for in order cost one reading of the file per block; others are read alone. */
const BLOCK_BYTES = 256 * 1024;
/** Some lines are not asked for, because they are known already. */
const NEAR_BYTES = 64 * 1024;

export function fileLines(file: string): LineSource {
  let block: Buffer = Buffer.alloc(0);
  let blockStart = 0;
  return {
    read({ start, length }) {
      if (start < blockStart || start + length > blockStart + block.length) {
        // At its end stands the line that was read last, or the beginning of one that follows.
        const isNext = start >= blockStart && start <= blockStart + block.length + NEAR_BYTES;
        block = readBytes(file, start, isNext ? Math.max(length, BLOCK_BYTES) : length);
        blockStart = start;
      }
      return block.toString("utf8", start - blockStart, start - blockStart + length);
    },
  };
}

/** As many of `length` bytes as there are. */
function readBytes(file: string, start: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  try {
    const handle = openSync(file, "r");
    try {
      let done = 0;
      while (done < length) {
        const count = readSync(handle, buffer, done, length - done, start + done);
        if (count === 0) break;
        done += count;
      }
      return buffer.subarray(0, done);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    throw storageFailed(`The session file ${file} cannot be read`, error);
  }
}
