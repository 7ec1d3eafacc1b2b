// Decides whether the files of a plugin may be kept.
import { chmodSync, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { isInside } from "../find/manifest.ts";
import { installFailed, messageOf } from "../invalid.ts";

/** How much one plugin may bring, its dependencies included. */
export interface TreeLimits {
  /** Files, folders and links. */
  entries: number;
  /** Of all files together. */
  bytes: number;
}

/** A plugin with a model runtime of its own stays far below. */
export const TREE_LIMITS: TreeLimits = { entries: 60_000, bytes: 1024 ** 3 };

export interface TreeRequest {
  root: string;
  /** What the plugin is called in sentences. */
  what: string;
  /** Names that are passed over, with what is below them. Absent: none. */
  skip?: ReadonlySet<string>;
  limits?: TreeLimits;
}

export interface TreeSize {
  files: number;
  bytes: number;
}

/** Throws PLUGIN_INSTALL_FAILED at the first thing that may not be kept. */
export function checkTree({ root, what, skip, limits = TREE_LIMITS }: TreeRequest): TreeSize {
  const size = { entries: 0, files: 0, bytes: 0 };
  const realRoot = realpathSync.native(root);
  for (const { path, name, stats } of walk(root, skip)) {
    size.entries++;
    if (stats.isFile()) {
      size.files++;
      size.bytes += stats.size;
    }
    const problem = problemOf({ root, realRoot, path, name, stats }) ?? tooMuch(size, limits);
    if (problem !== null) throw installFailed(`${what} cannot be installed: ${problem}.`);
  }
  return { files: size.files, bytes: size.bytes };
}

/** Files run as whoever runs them, and only their owner changes them. */
export function mendModes(root: string): void {
  for (const { path, stats } of walk(root))
    if (!stats.isSymbolicLink() && (stats.mode & 0o7022) !== 0) chmodSync(path, stats.mode & 0o755);
}

interface Entry {
  path: string;
  name: string;
  stats: Stats;
}

/** Follows no links. */
function* walk(folder: string, skip?: ReadonlySet<string>): Generator<Entry> {
  for (const name of readdirSync(folder)) {
    if (skip?.has(name)) continue;
    const path = join(folder, name);
    const stats = lstatSync(path);
    yield { path, name, stats };
    if (stats.isDirectory()) yield* walk(path, skip);
  }
}

function problemOf(entry: Entry & { root: string; realRoot: string }): string | null {
  const { root, path, name, stats } = entry;
  const shown = JSON.stringify(relative(root, path));
  if (/[\u0000-\u001f\u007f\\]/.test(name))
    return `the name of ${shown} holds a backslash or a character that cannot be seen`;
  if (stats.isSymbolicLink()) {
    const target = readlinkSync(path);
    return leadsOutside(entry, target)
      ? `the link ${shown} leads outside its folder, to ${target}`
      : null;
  }
  return stats.isFile() || stats.isDirectory() ? null : `${shown} is neither a file nor a folder`;
}

/** An absolute link would lead to where the files were, not to where they are going to be. */
function leadsOutside(
  { root, realRoot, path }: { root: string; realRoot: string; path: string },
  target: string,
): boolean {
  if (isAbsolute(target) || !isInside(root, resolve(dirname(path), target))) return true;
  try {
    // The other one resolves ".." by the names, not by what the links lead to.
    return !isInside(realRoot, realpathSync.native(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw installFailed(`${path} cannot be read: ${messageOf(error)}.`, error);
  }
}

function tooMuch(size: TreeSize & { entries: number }, limits: TreeLimits): string | null {
  if (size.entries > limits.entries)
    return `it has more than ${limits.entries.toLocaleString("en")} files and folders`;
  if (size.bytes > limits.bytes)
    return `its files take more than ${Math.round(limits.bytes / 1024 ** 2).toLocaleString("en")} MiB`;
  return null;
}
