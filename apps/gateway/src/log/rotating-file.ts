// A log file that is renamed and begun again when it is full.
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

export interface RotationOptions {
  /** Bytes of one file. */
  maxBytes: number;
  /** Older files kept besides the current one. */
  keep: number;
}

export const DEFAULT_ROTATION: RotationOptions = { maxBytes: 5 * 1024 * 1024, keep: 3 };

export interface RotatingFile {
  /**
   * One line with its line feed. Never throws: a log that cannot be written must not stop a reply.
   */
  write(line: string): void;
  close(): void;
}

export function rotatingFile(
  file: string,
  options: RotationOptions = DEFAULT_ROTATION,
): RotatingFile {
  let descriptor: number | undefined;
  let size = 0;

  const openFile = () => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    descriptor = openSync(file, "a", 0o600);
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
    renameIfThere(file, `${file}.1`);
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

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
