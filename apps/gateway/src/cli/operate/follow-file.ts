// Reads what is added to a file that may be renamed and begun again meanwhile.
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";

export interface FollowedFile {
  /** Whole lines that were added since. */
  next(): string[];
}

const PIECE_BYTES = 64 * 1024;

/** From its present end on; a file that is not there yet is read from its beginning. */
export function followFile(file: string): FollowedFile {
  let descriptor = open(file);
  let at = descriptor === undefined ? 0 : fstatSync(descriptor).size;
  let rest = Buffer.alloc(0);

  const read = (): string[] => {
    if (descriptor === undefined) return [];
    const lines: string[] = [];
    const piece = Buffer.alloc(PIECE_BYTES);
    for (;;) {
      const count = readSync(descriptor, piece, 0, piece.length, at);
      if (count === 0) return lines;
      at += count;
      rest = Buffer.concat([rest, piece.subarray(0, count)]);
      const end = rest.lastIndexOf(10);
      if (end < 0) continue;
      lines.push(...rest.subarray(0, end).toString("utf8").split("\n"));
      rest = rest.subarray(end + 1);
    }
  };
  return {
    next() {
      const lines = read();
      if (descriptor !== undefined && isSame(descriptor, file)) return lines;
      const fresh = open(file);
      if (fresh === undefined) return lines;
      if (descriptor !== undefined) closeSync(descriptor);
      [descriptor, at, rest] = [fresh, 0, Buffer.alloc(0)];
      return [...lines, ...read()];
    },
  };
}

function open(file: string): number | undefined {
  try {
    return openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch {
    return undefined;
  }
}

/** While it is being renamed there is none. */
function isSame(descriptor: number, file: string): boolean {
  const now = statSync(file, { throwIfNoEntry: false });
  return now === undefined || now.ino === fstatSync(descriptor).ino;
}
