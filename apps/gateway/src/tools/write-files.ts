// Decides where a tool may write, and writes a file whole or not at all.
import { lstat, mkdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import writeFileAtomic from "write-file-atomic";
import { number } from "../text/number.ts";
import { ToolRefusal } from "./tool.ts";
import { isInside, readText, resolveInside } from "./workspace-files.ts";

/** Of a file that is written, bytes. */
const MAX_BYTES = 1024 * 1024;

/** A file that may be written. */
export interface WritePlace {
  /** Its folder, links resolved, as far as it is there. */
  readonly folder: string;
  readonly name: string;
  readonly exists: boolean;
  /** Permissions of the file that is there. */
  readonly mode: number | undefined;
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
export async function placeToWrite(root: string, path: string): Promise<WritePlace> {
  if (path.includes("\0")) throw new ToolRefusal("The path holds a null character.");
  const asked = resolve(root, path);
  if (asked === root || path.endsWith("/"))
    throw new ToolRefusal(`"${path}" is a folder; name a file in it.`);
  if (!isInside(root, asked))
    throw new ToolRefusal(`"${path}" is outside the workspace; only files inside it are written.`);
  const folder = await realFolder(root, dirname(asked), path);
  const file = join(folder, basename(asked));
  const there = await lstat(file).catch(() => undefined);
  if (there?.isSymbolicLink())
    throw new ToolRefusal(`"${path}" is a link; name the file that it leads to.`);
  if (there !== undefined && !there.isFile())
    throw new ToolRefusal(`"${path}" is a folder or a device, and no file.`);
  if (there !== undefined && there.nlink > 1)
    throw new ToolRefusal(`"${path}" has other names (hard links), and is not written.`);
  const mode = there && there.mode & 0o777;
  return { folder, name: basename(asked), exists: there !== undefined, mode, root };
}

/** With what of it is not there yet. */
async function realFolder(root: string, folder: string, path: string): Promise<string> {
  const missing: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => undefined);
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

/** Whole or not at all; what was changed since the place was looked at is looked at again. */
export async function writeText(
  { folder, name, mode, root }: WritePlace,
  content: string,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (!isInside(root, await realpath(folder)))
    throw new ToolRefusal("The folder was replaced by a link meanwhile; nothing was written.");
  await writeFileAtomic(join(folder, name), content, mode === undefined ? {} : { mode });
}

/** What is to be replaced. */
export interface Edit {
  path: string;
  old_text: string;
  new_text: string;
  all?: boolean | undefined;
}

/** The text as it would be, in the line endings of the file. Throws ToolRefusal. */
export async function edited(
  root: string,
  { path, old_text, new_text, all = false }: Edit,
): Promise<{ place: WritePlace; text: string; times: number }> {
  const place = await placeToWrite(root, path);
  const file = await readText(await resolveInside(root, path), MAX_BYTES);
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
  const isWindows = text.includes("\r\n") && !text.includes(old_text);
  const inFile = (words: string) =>
    isWindows ? words.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n") : words;
  const [before, after] = [inFile(old_text), inFile(new_text)];
  const parts = text.split(before);
  const times = parts.length - 1;
  if (times === 0)
    return { why: "old_text does not stand there; read the file and copy it exactly." };
  if (before === after) return { why: "old_text and new_text are the same." };
  if (times > 1 && !all)
    return {
      why: `old_text stands there ${times} times; give more of what is around it, or set all.`,
    };
  return { text: parts.join(after), times };
}
