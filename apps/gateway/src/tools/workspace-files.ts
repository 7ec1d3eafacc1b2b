// Which files a tool may see.
import { constants, type Dirent, realpathSync } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { ToolRefusal } from "./tool.ts";

/** Folders nobody searches by hand either. */
const SKIPPED_FOLDERS = new Set(["node_modules", "dist", "build", "target", "coverage"]);

/** The folder itself, links resolved; undefined when there is none. */
export function workspaceRoot(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}

/** The real path of a file inside `root`. Throws ToolRefusal when it is outside or not there. */
export async function resolveInside(root: string, path: string): Promise<string> {
  if (path.includes("\0")) throw new ToolRefusal("The path holds a null character.");
  const asked = resolve(root, path);
  if (!isInside(root, asked))
    throw new ToolRefusal(`"${path}" is outside the workspace; only files inside it can be read.`);
  let real: string;
  try {
    real = await realpath(asked);
  } catch {
    throw new ToolRefusal(`There is no file "${path}" in the workspace.`);
  }
  if (!isInside(root, real))
    throw new ToolRefusal(`"${path}" is a link that leaves the workspace; it was not followed.`);
  return real;
}

export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (!isAbsolute(way) && way !== ".." && !way.startsWith(`..${sep}`));
}

export interface TextFile {
  text: string;
  /** Bytes of the whole file. */
  size: number;
}

/** Up to `maxBytes` of a text file; undefined when it is no regular file or holds binary data. */
export async function readText(file: string, maxBytes: number): Promise<TextFile | undefined> {
  // Opening a pipe would wait for somebody who writes to it.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return undefined;
    const buffer = Buffer.alloc(Math.min(stat.size, maxBytes));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    const bytes = buffer.subarray(0, bytesRead);
    return bytes.includes(0) ? undefined : { text: bytes.toString("utf8"), size: stat.size };
  } finally {
    await handle.close();
  }
}

/**
 * Regular files below `root`, relative, in order of name; hidden ones, links and
 * build folders are left out.
 */
export async function* walkFiles(
  root: string,
  signal: AbortSignal,
  folder = "",
): AsyncGenerator<string> {
  signal.throwIfAborted();
  let entries: Dirent[];
  try {
    entries = await readdir(join(root, folder), { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isFile()) yield path;
    else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name))
      yield* walkFiles(root, signal, path);
  }
}
