// Writes files of the home, and where a link stands in the place of one nothing.
import writeFileAtomic from "write-file-atomic";
import { closeSync, open, openSync, writeSync } from "../own-files.ts";
import { refuseLink, TO_APPEND, TO_REPLACE } from "./no-links.ts";

export interface OwnWrite {
  /** Absent: 0600. */
  mode?: number;
  /** Absent: it is on the disk when it resolves. */
  fsync?: false;
}

/** In one step, all of it or nothing. Throws what the file system says, and ELOOP for a link. */
export async function writeOwn(
  file: string,
  data: string | Buffer,
  { mode = 0o600, ...options }: OwnWrite = {},
): Promise<void> {
  // It would write where the link leads.
  refuseLink(file);
  await writeFileAtomic(file, data, { mode, ...options });
}

/** The same at once. */
export function writeOwnNow(file: string, text: string): void {
  refuseLink(file);
  writeFileAtomic.sync(file, text, { mode: 0o600 });
}

/** In place, as fast as it goes: half of it may be there when the process is killed. */
export function replaceOwnNow(file: string, text: string): void {
  const fd = openSync(file, TO_REPLACE, 0o600);
  try {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
  } finally {
    closeSync(fd);
  }
}

/** Adds to the file, which may be new. Throws what the file system says, and ELOOP for a link. */
export async function appendOwn(file: string, text: string): Promise<void> {
  const handle = await open(file, TO_APPEND, 0o600);
  try {
    await handle.appendFile(text);
  } finally {
    await handle.close();
  }
}
