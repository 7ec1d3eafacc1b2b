// Finds what code reads beside its own file.
import { posix } from "node:path";

/** `new URL("./data.txt", import.meta.url)` */
const BESIDE = /new\s+URL\(\s*(["'`])(\.{1,2}\/[^"'`$?#]+)\1\s*,\s*import\.meta\.url\s*\)/g;

/** Pure. Each path once, relative to the file that the code is in. */
export const readBeside = (code: string): string[] => [
  ...new Set([...code.matchAll(BESIDE)].map(([, , path]) => posix.normalize(path!))),
];

/** Pure. What files of a package read beside them and the package lacks. */
export function planLacking(
  files: ReadonlyMap<string, Uint8Array>,
): { from: string; path: string }[] {
  const isThere = (path: string) =>
    files.has(path) ||
    [...files.keys()].some((name) => name.startsWith(`${path.replace(/\/$/, "")}/`));
  return [...files].flatMap(([from, content]) =>
    /\.[cm]?js$/.test(from) && !from.includes("node_modules/")
      ? readBeside(Buffer.from(content).toString("utf8"))
          .filter((path) => !isThere(posix.join(posix.dirname(from), path)))
          .map((path) => ({ from, path }))
      : [],
  );
}
