// Reads the text that a file has before a tool changes it, for an editor to show.
import { lstatSync, readFileSync } from "node:fs";
import { isInside } from "../tools/workspace-files.ts";

const MAX_BYTES = 512 * 1024;

/** Null: there is none, it is no text, or it is not the editor's to see. */
export function oldTextIn(
  { root, home }: { root: string; home: string },
  path: string,
): string | null {
  if (!isInside(root, path) || isInside(home, path)) return null;
  try {
    const stat = lstatSync(path);
    if (!stat.isFile() || stat.size > MAX_BYTES) return null;
    const bytes = readFileSync(path);
    return bytes.includes(0) ? null : bytes.toString("utf8");
  } catch {
    return null;
  }
}
