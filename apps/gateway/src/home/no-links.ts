// Finds links below the home, and opens and makes nothing through one.
import { constants, mkdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { lstatSync } from "../own-files.ts";

/** With it a file is not opened where it is a link; ELOOP. */
export const NO_LINK = constants.O_NOFOLLOW ?? 0;
export const TO_APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | NO_LINK;
export const TO_REPLACE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | NO_LINK;

/** One system call: not worth the way to another thread and back. */
export const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** The first folder below `base`, on the way to `folder` and with it, that is a link. */
export function linkedFolder(base: string, folder: string): string | undefined {
  const names = relative(base, folder).split(sep);
  return names.map((_, at) => join(base, ...names.slice(0, at + 1))).find(isLink);
}

/**
 * Makes a folder, with those on the way from `base`, which may be a link itself. Throws what the
 * file system says, and ELOOP where one of the others is a link.
 */
export async function makeOwnFolder(base: string, folder: string): Promise<void> {
  refuseLinkedFolders(base, folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** The same at once. */
export function makeOwnFolderNow(base: string, folder: string): void {
  refuseLinkedFolders(base, folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** Throws ELOOP. */
export function refuseLinkedFolders(base: string, folder: string): void {
  const link = linkedFolder(base, folder);
  if (link !== undefined) throw linkError(link);
}

/** Throws ELOOP. */
export function refuseLink(path: string): void {
  if (isLink(path)) throw linkError(path);
}

/** As the system says it where it is asked not to follow one. */
const linkError = (path: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${path} is a link, which is never followed`), {
    ...{ code: "ELOOP", path },
  });
