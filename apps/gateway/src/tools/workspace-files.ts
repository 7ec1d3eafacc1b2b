// Which files a tool may see.
import { constants, type Dirent, realpathSync } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { ToolRefusal } from "./tool.ts";

/** Folders nobody searches by hand either. */
const SKIPPED_FOLDERS = new Set(["node_modules", "dist", "build", "target", "coverage"]);

/** The folder itself, links resolved; undefined when there is none. Asked often in each turn. */
export function workspaceRoot(folder: string): string | undefined {
  try {
    return realpathSync.native(folder);
  } catch {
    return undefined;
  }
}

/** A folder in which tools work, and where the gateway keeps what is its own. */
export interface Bounds {
  /** Real path of the workspace. */
  root: string;
  own: OwnPlaces;
}

/** Where the gateway keeps its keys, its secret, and whom it lets do what. */
export interface OwnPlaces {
  /** A folder; in a workspace around it all of it is closed, and in one within it a part. */
  home: string;
  /** The settings, which may lie elsewhere; copies beside them are closed, too. */
  configFile: string;
}

/** Whether a file, named by its real path, is one that no tool reads or writes. */
export async function ownFiles({ root, own }: Bounds): Promise<(file: string) => boolean> {
  const [home, settings] = await Promise.all(
    [own.home, own.configFile].map((path) => realpath(path).catch(() => path)),
  );
  const isHome = ownPlacesIn(root, home!);
  // Two names that differ in case may be one file.
  const copies = `${settings!.toLowerCase()}.`;
  return (file) => isHome(file) || `${file.toLowerCase()}.`.startsWith(copies);
}

/** In a workspace around the home all of it; in one within it what agents have beside their own. */
function ownPlacesIn(root: string, home: string): (file: string) => boolean {
  if (isInside(root, home)) return (file) => isInside(home, file);
  return (file) => {
    const [agents, , name] = isInside(home, file) ? relative(home, file).split(sep) : [];
    return agents === "agents" && name !== undefined && name !== "workspace";
  };
}

/** Throws ToolRefusal. */
export async function requireNotOwn(bounds: Bounds, file: string, path: string): Promise<void> {
  if ((await ownFiles(bounds))(file))
    throw new ToolRefusal(
      `"${path}" is one of the gateway's own files, which no tool reads or writes.`,
    );
}

/**
 * The real path of a file inside the workspace. Throws ToolRefusal when it is outside, not there,
 * or the gateway's own.
 */
export async function resolveInside(bounds: Bounds, path: string): Promise<string> {
  const { root } = bounds;
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
  await requireNotOwn(bounds, real, path);
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

/** As `readText`, of a file below `root`, wherever its text is. */
export type TextOf = (
  file: string,
  maxBytes: number,
  root: string,
) => Promise<TextFile | undefined>;

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

/** A way through a workspace. */
export interface Walk {
  /** Relative paths, in order of name. */
  files: AsyncGenerator<string>;
  /** True: it came by some of the gateway's own, which are left out. */
  passedOwn(): boolean;
}

/** Its regular files; hidden ones, links and build folders are left out. */
export function walkFiles(bounds: Bounds, signal: AbortSignal): Walk {
  const { root } = bounds;
  let passed = false;
  async function* below(folder: string, isOwn: (file: string) => boolean): AsyncGenerator<string> {
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
      if (isOwn(join(root, path))) passed = true;
      else if (entry.isFile()) yield path;
      else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) yield* below(path, isOwn);
    }
  }
  async function* all() {
    yield* below("", await ownFiles(bounds));
  }
  return { files: all(), passedOwn: () => passed };
}
