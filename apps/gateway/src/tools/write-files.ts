// Decides where a tool may write, and writes a file whole or not at all.
import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { headOf } from "@clew/plugin-sdk/transcript";
import { storageReason } from "../storage-reason.ts";
import { number } from "../text/number.ts";
import { visible } from "../text/visible.ts";
import { inFolder } from "./opened-folder.ts";
import { ToolRefusal } from "./tool.ts";
import {
  type Bounds,
  isInside,
  readText,
  requireNotOwn,
  resolveInside,
  type TextOf,
} from "./workspace-files.ts";

/** Of a file that is written, bytes. */
const MAX_BYTES = 1024 * 1024;

/** A file that may be written. */
export interface WritePlace {
  /** As it was asked for. */
  readonly path: string;
  /** Its folder, links resolved, as far as it is there. */
  readonly folder: string;
  readonly name: string;
  /** The file that is there. */
  readonly found: Stats | undefined;
  readonly root: string;
}

/** Throws ToolRefusal. */
export function requireFits(content: string): void {
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_BYTES)
    throw new ToolRefusal(
      `The text has ${number(bytes)} bytes, and a file may have ${number(MAX_BYTES)}; write it in parts, as several files.`,
    );
}

/**
 * Inside the workspace, wherever links lead: a link in the file's own place is refused, so that
 * nothing outside is replaced. Throws ToolRefusal.
 */
export async function placeToWrite(bounds: Bounds, path: string): Promise<WritePlace> {
  const { root } = bounds;
  if (path.includes("\0")) throw new ToolRefusal("The path holds a null character.");
  const asked = resolve(root, path);
  if (asked === root || path.endsWith("/"))
    throw new ToolRefusal(`"${path}" is a folder; name a file in it.`);
  if (!isInside(root, asked))
    throw new ToolRefusal(`"${path}" is outside the workspace; only files inside it are written.`);
  if (relative(root, asked).split(sep).some(isTooLong))
    throw cannotWrite(path, { code: "ENAMETOOLONG" });
  const folder = await realFolder(root, dirname(asked), path);
  const file = join(folder, basename(asked));
  await requireOpen(bounds, file, path);
  const found = await lstat(file).catch((error: unknown) => unlessMissing(path, error));
  requireFile(found, path);
  if (found === undefined && /\p{Cc}/u.test(path))
    throw new ToolRefusal(
      `"${visible(path)}" is no name for a new file: it holds a control character, such as a line feed.`,
    );
  return { path, folder, name: basename(asked), found, root };
}

/** As all usual file systems say; what is not there yet cannot tell. */
const isTooLong = (name: string): boolean => Buffer.byteLength(name) > 255;

function requireFile(found: Stats | undefined, path: string): void {
  if (found?.isSymbolicLink())
    throw new ToolRefusal(`"${path}" is a link; name the file that it leads to.`);
  if (found !== undefined && !found.isFile())
    throw new ToolRefusal(`"${path}" is a folder or a device, and no file.`);
  if (found !== undefined && found.nlink > 1)
    throw new ToolRefusal(`"${path}" has other names (hard links), and is not written.`);
}

/** What git runs, and what the gateway lives on, is no text to be written. */
async function requireOpen(bounds: Bounds, file: string, path: string): Promise<void> {
  if (
    relative(bounds.root, file)
      .split(sep)
      .some((part) => part.toLowerCase() === ".git")
  )
    throw new ToolRefusal(`"${path}" is in a .git folder, which only git writes; run git instead.`);
  await requireNotOwn(bounds, file, path);
}

/** With what of it is not there yet. */
async function realFolder(root: string, folder: string, path: string): Promise<string> {
  const missing: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    const real = await realpath(at).catch((error: unknown) => unlessMissing(path, error));
    if (real === undefined) {
      if ((await lstat(at).catch(() => undefined)) !== undefined)
        throw new ToolRefusal(`"${path}" goes through a link that leads nowhere.`);
      missing.unshift(basename(at));
      continue;
    }
    if (!isInside(root, real))
      throw new ToolRefusal(`"${path}" leaves the workspace by a link; it was not followed.`);
    if (!(await stat(real)).isDirectory())
      throw new ToolRefusal(`"${path}" goes through a file that is no folder.`);
    return join(real, ...missing);
  }
}

/** Not there, or a link that leads nowhere. Throws ToolRefusal for what else is wrong with it. */
function unlessMissing(path: string, error: unknown): undefined {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (!["ENOENT", "ENOTDIR", "ELOOP"].includes(code)) throw cannotWrite(path, error);
}

/** The system's own words name paths that are none of the model's. */
const cannotWrite = (path: string, error: unknown): ToolRefusal =>
  new ToolRefusal(`"${headOf(path, 200)}" cannot be written: ${storageReason(error)}.`);

const AS_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Whole or not at all, and only if nobody changed the file since its place was looked at. A rename
 * replaces a link that took the name meanwhile, and does not follow it. Throws ToolRefusal.
 */
export async function writeText(
  place: WritePlace,
  content: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await replaceText(place, content, signal);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined
      ? error
      : cannotWrite(place.path, error);
  }
}

async function replaceText(
  { path, root, folder, name, found }: WritePlace,
  content: string,
  signal: AbortSignal,
): Promise<void> {
  await inFolder(root, folder, async (at) => {
    const temporary = at(`.clew-${randomUUID()}.tmp`);
    try {
      const handle = await open(temporary, AS_NEW, 0o666);
      try {
        await handle.writeFile(content);
        if (found !== undefined) await handle.chmod(found.mode & 0o777);
        await handle.sync();
      } finally {
        await handle.close();
      }
      if (!isSame(found, await lstat(at(name)).catch(() => undefined)))
        throw new ToolRefusal(
          `"${path}" was ${found ? "changed" : "made"} by somebody else meanwhile; it is left as it is. Read it again.`,
        );
      signal.throwIfAborted();
      await rename(temporary, at(name));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  });
}

/** A program may set back when a file was changed (mtime), but not when that was done (ctime). */
const isSame = (one: Stats | undefined, other: Stats | undefined): boolean =>
  one?.ino === other?.ino &&
  one?.size === other?.size &&
  one?.mtimeMs === other?.mtimeMs &&
  one?.ctimeMs === other?.ctimeMs;

/** What is to be replaced. */
export interface Edit {
  path: string;
  old_text: string;
  new_text: string;
  all?: boolean | undefined;
}

/** The text as it would be, in the line endings of the file. Throws ToolRefusal. */
export async function edited(
  bounds: Bounds,
  { path, old_text, new_text, all = false }: Edit,
  textOf: TextOf = readText,
): Promise<{ place: WritePlace; text: string; times: number }> {
  const place = await placeToWrite(bounds, path);
  const file = await textOf(await resolveInside(bounds, path), MAX_BYTES, bounds.root);
  if (file === undefined || file.text.includes("\ufffd"))
    throw new ToolRefusal(`"${path}" is not a text file in UTF-8.`);
  if (file.size > MAX_BYTES)
    throw new ToolRefusal(
      `"${path}" has ${number(file.size)} bytes, and up to ${number(MAX_BYTES)} can be edited.`,
    );
  const planned = planEdit(file.text, { old_text, new_text, all });
  if ("why" in planned) throw new ToolRefusal(`${path} was not changed: ${planned.why}`);
  requireFits(planned.text);
  return { place, ...planned };
}

/** Pure. */
export function planEdit(
  text: string,
  { old_text, new_text, all }: { old_text: string; new_text: string; all: boolean },
): { text: string; times: number } | { why: string } {
  // A model that says LF means the ends of lines that the file has.
  const isWindows = text.includes("\r\n") && !/[\r\n]/.test(text.replaceAll("\r\n", ""));
  const saysLf = isWindows && !`${old_text}${new_text}`.includes("\r");
  const inFile = (words: string) => (saysLf ? words.replaceAll("\n", "\r\n") : words);
  const [before, after] = [inFile(old_text), inFile(new_text)];
  const parts = text.split(before);
  const times = parts.length - 1;
  if (times === 0)
    return { why: "old_text does not stand there; read the file and copy it exactly." };
  if (before === after) return { why: "old_text and new_text are the same." };
  // One that overlaps itself, such as "aa" in "aaa", stands there twice.
  if (!all && text.indexOf(before) !== text.lastIndexOf(before))
    return {
      why: `old_text stands there ${Math.max(2, times)} times; give more of what is around it, or set all.`,
    };
  return { text: parts.join(after), times };
}
