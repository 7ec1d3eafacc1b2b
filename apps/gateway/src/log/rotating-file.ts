// A log file that is renamed and begun again when it is full.
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeOwnFolderNow, TO_APPEND } from "../home/no-links.ts";

export interface RotationOptions {
  /** Bytes of one file. */
  maxBytes: number;
  /** Older files kept besides the current one. */
  keep: number;
  /** Days after which older files go. */
  keepDays: number;
}

export const DEFAULT_ROTATION: RotationOptions = {
  maxBytes: 5 * 1024 * 1024,
  keep: 3,
  keepDays: 30,
};

export interface RotatingFile {
  /**
   * One line with its line feed. Never throws: a log that cannot be written must not stop a reply.
   */
  write(line: string): void;
  close(): void;
}

const DAY_MS = 86_400_000;

export function rotatingFile(
  file: string,
  options: RotationOptions = DEFAULT_ROTATION,
): RotatingFile {
  let descriptor: number | undefined;
  let size = 0;
  let isSwept = false;

  const openFile = () => {
    makeOwnFolderNow(dirname(dirname(file)), dirname(file));
    if (!isSwept) removeOld(file, options);
    isSwept = true;
    descriptor = openSync(file, TO_APPEND, 0o600);
    size = fstatSync(descriptor).size;
    return descriptor;
  };
  const close = () => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  const rotate = () => {
    close();
    for (let age = options.keep - 1; age >= 1; age--)
      renameIfThere(`${file}.${age}`, `${file}.${age + 1}`);
    if (options.keep > 0) renameIfThere(file, `${file}.1`);
    else rmSync(file, { force: true });
    isSwept = false;
  };
  return {
    write(line) {
      try {
        const bytes = Buffer.from(line);
        let target = descriptor ?? openFile();
        if (size > 0 && size + bytes.length > options.maxBytes) {
          rotate();
          target = openFile();
        }
        writeSync(target, bytes);
        size += bytes.length;
      } catch {
        close();
      }
    },
    close,
  };
}

/** The log's files, the current one last, oldest first. */
export function logFiles(file: string): string[] {
  return numbered(file)
    .sort((a, b) => b.age - a.age)
    .map(({ path }) => path)
    .concat(file);
}

function numbered(file: string): { path: string; age: number }[] {
  const folder = dirname(file);
  const start = `${basename(file)}.`;
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
      .map((name) => ({ path: join(folder, name), age: Number(name.slice(start.length)) }));
  } catch {
    return [];
  }
}

/** More than are kept by number, and what was last written too long ago. */
function removeOld(file: string, { keep, keepDays }: RotationOptions): void {
  const since = Date.now() - keepDays * DAY_MS;
  for (const { path, age } of numbered(file)) {
    const isOver = age > keep || (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < since;
    if (isOver) rmSync(path, { force: true });
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
