// Opens a folder of the workspace so that it stays the same, whatever is renamed meanwhile.
import { constants, existsSync } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { ToolRefusal } from "./tool.ts";

/**
 * Does `work` in a folder below `root`, both real paths; what is missing of it is made. `at` gives
 * the path of a name in it. Each folder on the way is opened as itself, so one that became a link
 * since its path was looked at is refused. Where the system has /proc, the next one is looked for
 * in the one that was opened; elsewhere a folder that is replaced after that is not noticed.
 */
export async function inFolder<Result>(
  root: string,
  folder: string,
  work: (at: (name: string) => string) => Promise<Result>,
): Promise<Result> {
  let opened = await openFolder(root, root);
  try {
    for (const name of relative(root, folder).split(sep).filter(Boolean)) {
      const inner = join(opened.path, name);
      await mkdir(inner).catch(unlessThere);
      const next = await openFolder(inner, name);
      await opened.handle.close();
      opened = next;
    }
    const { path } = opened;
    return await work((name) => join(path, name));
  } finally {
    await opened.handle.close();
  }
}

/** Names opened folders, so that a path can start from one whatever its name has become. */
const OPENED = "/proc/self/fd";
const namesOpened = process.platform === "linux" && existsSync(OPENED);

const AS_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

async function openFolder(
  folder: string,
  name: string,
): Promise<{ handle: FileHandle; path: string }> {
  let handle: FileHandle;
  try {
    handle = await open(folder, AS_FOLDER);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ELOOP" && code !== "ENOTDIR") throw error;
    throw new ToolRefusal(`The folder ${name} was replaced meanwhile; nothing was written.`);
  }
  return { handle, path: namesOpened ? `${OPENED}/${handle.fd}` : folder };
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
