// Reads the files to which lossless-claw moved long texts and pictures.
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import type { ClawFile } from "../../store/lossless-claw/rows.ts";
import type { FileContents } from "./message.ts";

/**
 * Where it was written, or with or without a folder of its conversation; below `folder` only, since
 * a database may name any file of the machine.
 */
export function contentsOf(files: readonly ClawFile[], folder: string): FileContents {
  const byId = new Map(files.map((file) => [file.id, file]));
  return (id) => {
    const file = byId.get(id);
    if (file === undefined) return undefined;
    const name = basename(file.path);
    const places = [file.path, join(folder, String(file.conversation), name), join(folder, name)];
    for (const place of places) {
      if (!isBelow(place, folder)) continue;
      const found = statSync(place, { throwIfNoEntry: false });
      // What was changed since is not what was said.
      if (found?.isFile() !== true || (file.bytes !== null && found.size !== file.bytes)) continue;
      const bytes = readFileSync(place);
      return file.mimeType?.startsWith("image/") === true
        ? { image: { type: "image", data: bytes.toString("base64"), mimeType: file.mimeType } }
        : { text: bytes.toString("utf8") };
    }
    return undefined;
  };
}

/** Wherever links lead. */
function isBelow(file: string, folder: string): boolean {
  try {
    const path = relative(realpathSync(folder), realpathSync(file));
    return path !== "" && path.split(sep)[0] !== ".." && !path.startsWith(sep);
  } catch {
    return false;
  }
}
