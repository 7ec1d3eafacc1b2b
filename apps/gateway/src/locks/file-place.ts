// Tells a file that lies where it was made from a copy of it.
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";

/** To be kept in the file itself: copying keeps the content, and changes folder and inode. */
export const PlaceSchema = z.object({
  /** Of the folder's real path. */
  folder: z.string().regex(/^[0-9a-f]{16}$/),
  /** Device and number. */
  inode: z.string(),
});

export type Place = z.infer<typeof PlaceSchema>;

/** `stats` are those of `file`, with big integers. */
export function placeOf(file: string, { dev, ino }: { dev: bigint; ino: bigint }): Place {
  return { folder: hashOfFolder(dirname(file)), inode: `${dev}:${ino}` };
}

/** A file that was moved, or is seen through another mount, is no copy: its inode is the same. */
export function isCopy(made: Place, found: Place): boolean {
  return made.folder !== found.folder && made.inode !== found.inode;
}

/** The same for every spelling of one folder's path. */
export function hashOfFolder(folder: string): string {
  return createHash("sha256").update(realPath(folder)).digest("hex").slice(0, 16);
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
