// Says what in a package's tarball could not be published or would not work.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Manifest } from "./packages.ts";

const BLOCK = 512;

/**
 * The files of an npm tarball by their path inside the package. Long paths (pax, GNU) are
 * not needed and not read.
 */
export function readTarball(file: string): Map<string, Buffer> {
  const bytes = gunzipSync(readFileSync(file));
  const files = new Map<string, Buffer>();
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0; ) {
    const field = (start: number, length: number) =>
      bytes.toString("utf8", at + start, at + start + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(field(124, 12), 8);
    const path = [field(345, 155), field(0, 100)].filter((part) => part !== "").join("/");
    const kind = field(156, 1);
    if (kind === "0" || kind === "")
      files.set(path.replace(/^package\//, ""), bytes.subarray(at + BLOCK, at + BLOCK + size));
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

/** Pure. One sentence per fault of a packed package; empty when it may be published. */
export function tarballFaults(files: ReadonlyMap<string, Buffer>): string[] {
  const packed = files.get("package.json");
  if (packed === undefined) return ["There is no package.json in the tarball."];
  const manifest = JSON.parse(packed.toString("utf8")) as Manifest;
  const faults: string[] = [];
  for (const [field, place, value] of texts(manifest)) {
    if (/^(workspace|catalog|link|file):/.test(value))
      faults.push(`${place} is ${value}, which only this workspace understands.`);
    if (field !== "description" && /\bexample\.(com|org|net)\b/.test(value))
      faults.push(`${place} is the placeholder ${value}.`);
  }
  if (packed.includes("@clew/source"))
    faults.push('The condition "@clew/source" leads to sources that are not in the tarball.');
  if (manifest.private === true) faults.push("The package is private.");
  for (const file of ["README.md", "LICENSE"])
    if (!files.has(file)) faults.push(`${file} is not in the tarball.`);
  for (const target of targets(manifest))
    if (!isThere(target, files)) faults.push(`${target} is not in the tarball.`);
  return faults;
}

/** The files a manifest promises: entry points, internal imports and commands. */
export function targets({ exports, imports, bin }: Manifest): string[] {
  return [...texts({ exports, imports, bin })].map(([, , target]) => target);
}

function isThere(target: string, files: ReadonlyMap<string, Buffer>): boolean {
  const path = target.replace(/^\.\//, "");
  const [before = "", after] = path.split("*");
  if (after === undefined) return files.has(path);
  return [...files.keys()].some((file) => file.startsWith(before) && file.endsWith(after));
}

/** Each text in a manifest: its top field, its place, and itself. */
function* texts(
  value: unknown,
  path: readonly string[] = [],
): Generator<[field: string, place: string, text: string]> {
  if (typeof value === "string") yield [path[0] ?? "", path.join("."), value];
  else if (typeof value === "object" && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* texts(inner, [...path, key]);
}
