// Reads the first lines of a session's files, which is all that a list needs of them.
import { closeSync, constants, openSync, readSync } from "node:fs";
import { fromJson } from "../own-json.ts";

/** What is read first, and what is read where that was not enough. */
const FIRST_BYTES = 16 * 2 ** 10;
const MOST_BYTES = 256 * 2 ** 10;

/** Nobody else reads into it before its text was taken out. */
const FIRST = Buffer.allocUnsafe(FIRST_BYTES);

/**
 * What `find` makes of the objects in a file's first lines; it is asked again with more of them as
 * long as it finds nothing. Undefined: there is nothing, or no such file.
 */
export function findInHead<Found>(
  file: string,
  find: (lines: readonly object[], isWhole: boolean) => Found | undefined,
): Found | undefined {
  for (const bytes of [FIRST_BYTES, MOST_BYTES]) {
    const head = readHead(file, bytes);
    if (head === undefined) return undefined;
    const found = find(linesIn(head.text, head.isWhole), head.isWhole);
    if (found !== undefined || head.isWhole) return found;
  }
  return undefined;
}

/** A few system calls: not worth the way to another thread and back, ten thousand times. */
function readHead(file: string, bytes: number): { text: string; isWhole: boolean } | undefined {
  let handle: number;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
  try {
    const buffer = bytes === FIRST_BYTES ? FIRST : Buffer.allocUnsafe(bytes);
    const read = readSync(handle, buffer, 0, bytes, 0);
    return { text: buffer.toString("utf8", 0, read), isWhole: read < bytes };
  } catch {
    return undefined;
  } finally {
    closeSync(handle);
  }
}

/** Those that hold an object. */
export function linesIn(text: string, isWhole: boolean): object[] {
  const lines = text.split("\n");
  if (!isWhole) lines.pop();
  return lines.flatMap((line) => {
    try {
      const value: unknown = line === "" ? undefined : fromJson(line);
      return typeof value === "object" && value !== null ? [value] : [];
    } catch {
      return [];
    }
  });
}
