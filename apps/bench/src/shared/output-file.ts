// Whether results can be written where a person wants them, before they are computed.
import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";

/** Why not, as a sentence; undefined = they can, or go to standard output. */
export function whyNotWritable(file: string | undefined): string | undefined {
  if (file === undefined || file === "-") return undefined;
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return `--json takes a file, and ${file} is a folder.`;
  try {
    accessSync(found === undefined ? dirname(file) : file, constants.W_OK);
    return undefined;
  } catch (error) {
    return `--json: ${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`;
  }
}
