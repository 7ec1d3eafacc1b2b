// Appends lines to the file of a day, which stays open and which others write to as well.
import { constants } from "node:fs";
import { dirname, join } from "node:path";
import { makeOwnFolderNow, NO_LINK } from "../home/no-links.ts";
import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "../own-files.ts";

/** Where lines stand in their file, bytes. */
export interface PlacedLines {
  /** Where they begin. */
  from: number;
  /** Where they end; undefined: somebody else wrote at the same time. */
  to: number | undefined;
  /** The file is another one than that of the append before. */
  isOther: boolean;
}

export interface DayFile {
  /**
   * In one piece, so that lines of several processes do not mix. `known`: where a line is known to
   * begin; the next one begins there too. Throws what the file system throws.
   */
  append(line: string, known: number): PlacedLines;
  close(): void;
}

const LINE_FEED = 10;
const TO_APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_LINK;

/** Calls of the system that take microseconds: not worth the way to another thread and back. */
export function openDayFile(folder: string, name: string): DayFile {
  const path = join(folder, name);
  let opened: { fd: number; inode: number } | undefined;
  const close = () => {
    if (opened !== undefined) closeSync(opened.fd);
    opened = undefined;
  };
  /** The file that has the name now. */
  const openOnce = (): { fd: number; size: number; isOther: boolean } => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (opened !== undefined && found?.ino === opened.inode)
      return { fd: opened.fd, size: found.size, isOther: false };
    const isOther = opened !== undefined;
    close();
    makeOwnFolderNow(dirname(folder), folder);
    const fd = openSync(path, TO_APPEND, 0o600);
    const { ino, size } = fstatSync(fd);
    opened = { fd, inode: ino };
    return { fd, size, isOther };
  };
  return {
    append(line, known) {
      const { fd, size, isOther } = openOnce();
      const isTorn = size > 0 && size !== known && byteAt(fd, size - 1) !== LINE_FEED;
      const bytes = Buffer.from(`${isTorn ? "\n" : ""}${line}\n`);
      const written = writeSync(fd, bytes);
      if (written < bytes.length) throw new Error(`the disk took ${written} of its bytes`);
      const end = fstatSync(fd).size;
      return { from: size, to: end === size + written ? end : undefined, isOther };
    },
    close,
  };
}

/** Its size; 0 where there is none. */
export const sizeOf = (folder: string, name: string): number =>
  statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;

function byteAt(fd: number, position: number): number | undefined {
  const byte = Buffer.alloc(1);
  return readSync(fd, byte, 0, 1, position) === 1 ? byte[0] : undefined;
}
