// Reads the files to which lossless-claw moved long texts and pictures.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
} from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { type ClawFile, MOST_BYTES } from "../../store/lossless-claw/source.ts";
import type { FileContents } from "./message.ts";

/** Where the files are, or why they are not read. */
export type FilesFolder = { readonly folder: string } | { readonly why: string };

/**
 * The one that was named, or the one beside the database. That may have come with the database from
 * anywhere, so a link in its place may lead to anything.
 */
export function filesFolderOf(from: string, named: string | undefined): FilesFolder {
  if (named !== undefined) return { folder: named };
  const folder = join(dirname(from), "lcm-files");
  return lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true
    ? {
        why: `${folder} is a link to another folder; name that one (--files) if it is lossless-claw's`,
      }
    : { folder };
}

/**
 * Where it was written, or with or without a folder of its conversation; below `folder` only, since
 * a database may name any file of the machine. One message has at most `MOST_BYTES` of them.
 */
export function contentsOf(files: readonly ClawFile[], folder: string): () => FileContents {
  const byId = new Map(files.map((file) => [file.id, file]));
  return () => {
    let left = MOST_BYTES;
    return (id) => {
      const file = byId.get(id);
      if (file === undefined) return undefined;
      const name = basename(file.path);
      const places = [file.path, join(folder, String(file.conversation), name), join(folder, name)];
      for (const place of places) {
        const real = placeBelow(place, folder);
        const bytes = real === undefined ? undefined : readAtMost(real, left);
        // What was changed since is not what was said.
        if (bytes === undefined || (file.bytes !== null && bytes.length !== file.bytes)) continue;
        left -= bytes.length;
        return file.mimeType?.startsWith("image/") === true
          ? { image: { type: "image", data: bytes.toString("base64"), mimeType: file.mimeType } }
          : { text: bytes.toString("utf8") };
      }
      return undefined;
    };
  };
}

/** Wherever links lead. Undefined: it is not below, or not there. */
function placeBelow(file: string, folder: string): string | undefined {
  try {
    const place = realpathSync(file);
    const path = relative(realpathSync(folder), place);
    const isBelow = path !== "" && path.split(sep)[0] !== ".." && !path.startsWith(sep);
    return isBelow ? place : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined: it is no file that can be read, or larger. */
function readAtMost(place: string, most: number): Buffer | undefined {
  let file: number | undefined;
  try {
    // Neither a link that came there meanwhile, nor something that never ends.
    file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = fstatSync(file);
    return found.isFile() && found.size <= most ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
