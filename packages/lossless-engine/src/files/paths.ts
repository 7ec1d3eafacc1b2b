// Decides which spellings of a path name one file.
import { posix } from "node:path";

/**
 * The path without detours, and from the workspace on where it leads into it: the same for all
 * spellings of one file. "" for a path that names the workspace, or nothing.
 */
export function filePath(spelled: string, workspace?: string | undefined): string {
  const path = plain(spelled);
  const root = workspace === undefined ? "" : plain(workspace);
  if (root !== "" && path === root) return "";
  return root !== "" && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

function plain(spelled: string): string {
  const given = spelled.trim().replace(/^file:\/\/(?=\/)/, "");
  const isWindows = /^[a-z]:\\/i.test(given) || !given.includes("/");
  const normal = posix.normalize(isWindows ? given.replaceAll("\\", "/") : given);
  return normal === "." ? "" : normal.replace(/(?<=.)\/$/, "");
}

/** True: `asked` is the end of the path, from a folder on. */
export const endsIn = (path: string, asked: string): boolean =>
  path.endsWith(`/${asked.replace(/^(?:\.\.\/)+|^\//, "")}`);
