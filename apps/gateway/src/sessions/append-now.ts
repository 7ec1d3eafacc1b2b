// Adds text to a file that is beside a session, at once.
import { constants } from "node:fs";
import { NO_LINK } from "../home/no-links.ts";
import { closeSync, fstatSync, openSync, readSync, writeSync } from "../own-files.ts";
import { noteWrite } from "./writes.ts";

/** Neither flushed nor large, so that no other thread need be asked. */
export function appendNow(file: string, text: string): void {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_LINK;
  const fd = openSync(file, flags, 0o600);
  try {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    const isTorn = size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== 10;
    const bytes = Buffer.from(isTorn ? `\n${text}` : text);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
  } finally {
    closeSync(fd);
    noteWrite(file);
  }
}
