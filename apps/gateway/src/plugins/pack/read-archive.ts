// Reads the files of a package's archive.
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { gunzipSync } from "node:zlib";
import { nameNotedIn, readBlock } from "../install/check-archive.ts";

/** Path below the package's folder, with "/" → content. */
export type PackageFiles = ReadonlyMap<string, Buffer>;

const BLOCK = 512;

/** The archive was checked before: it is small enough, and holds files and folders only. */
export function readArchive(file: string): PackageFiles {
  const packed = readFileSync(file);
  const bytes = packed[0] === 0x1f && packed[1] === 0x8b ? gunzipSync(packed) : packed;
  const files = new Map<string, Buffer>();
  let noted: string | undefined;
  for (let at = 0; at + BLOCK <= bytes.length; ) {
    const entry = readBlock(bytes.subarray(at, at + BLOCK));
    at += BLOCK;
    if (entry === null) continue;
    const content = bytes.subarray(at, at + entry.size);
    at += Math.ceil(entry.size / BLOCK) * BLOCK;
    if (/^[xgL]$/.test(entry.type)) {
      noted = nameNotedIn(entry.type, content) ?? noted;
      continue;
    }
    if (entry.type !== "5") files.set(below(noted ?? entry.name), content);
    noted = undefined;
  }
  return files;
}

/** Without the folder that archives of packages begin with, whatever it is called. */
const below = (name: string) => posix.normalize(name).split("/").slice(1).join("/");
