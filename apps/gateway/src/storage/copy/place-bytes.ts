// Writes a file whole or not at all, unless it holds something else than was wanted.
import { constants } from "node:fs";
import { copyFile, type FileHandle, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What became of a file. */
export type Placed =
  /** It said so before. */
  | "same"
  /** It was not there, or was the beginning of it. */
  | "written"
  /** What was wanted is the beginning of it. */
  | "longer"
  /** It says something else, and stays. */
  | "other";

export interface PlaceRequest {
  file: string;
  wanted: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** A folder on the same disk, in which nothing else is. */
  staging: string;
  isCheck: boolean;
}

const PIECE_BYTES = 256 * 1024;
const TO_READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

/** Durable when it resolves. */
export async function placeBytes({
  file,
  wanted,
  staging,
  isCheck,
}: PlaceRequest): Promise<Placed> {
  const found = await lstat(file).catch(() => undefined);
  if (found !== undefined && !found.isFile()) return "other";
  const there = found === undefined ? undefined : await open(file, TO_READ);
  const draft = join(staging, "draft");
  let writing: FileHandle | undefined;
  let at = 0;
  try {
    for await (const piece of wanted) {
      const same = writing === undefined ? await sameIn(there, piece, at) : 0;
      if (same === "other") return "other";
      at += same;
      if (same === piece.length) continue;
      if (isCheck) return "written";
      writing ??= await begin(draft, there === undefined ? undefined : file);
      await writing.writeFile(piece.subarray(same));
    }
    if (writing === undefined) {
      if (found !== undefined) return at < found.size ? "longer" : "same";
      if (isCheck) return "written";
      writing = await begin(draft, undefined);
    }
    await writing.sync();
  } finally {
    await there?.close();
    await writing?.close();
  }
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await moveTo(draft, file);
  return "written";
}

/** How many bytes of the piece are in the file already, which ends behind them if not all are. */
async function sameIn(
  there: FileHandle | undefined,
  piece: Uint8Array,
  position: number,
): Promise<number | "other"> {
  if (there === undefined) return 0;
  const buffer = Buffer.alloc(Math.min(piece.length, PIECE_BYTES));
  for (let done = 0; done < piece.length; ) {
    const length = Math.min(buffer.length, piece.length - done);
    const { bytesRead } = await there.read(buffer, 0, length, position + done);
    const own = buffer.subarray(0, bytesRead);
    if (!own.equals(piece.subarray(done, done + bytesRead))) return "other";
    done += bytesRead;
    if (bytesRead < length) {
      const isEnd = (await there.read(Buffer.alloc(1), 0, 1, position + done)).bytesRead === 0;
      if (isEnd) return done;
    }
  }
  return piece.length;
}

/** With all that is in `file`. */
async function begin(draft: string, file: string | undefined): Promise<FileHandle> {
  await mkdir(dirname(draft), { recursive: true, mode: 0o700 });
  await rm(draft, { force: true });
  if (file === undefined) return open(draft, "wx", 0o600);
  await copyFile(file, draft, constants.COPYFILE_FICLONE);
  return open(draft, "a", 0o600);
}

async function moveTo(draft: string, file: string): Promise<void> {
  await rename(draft, file).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "EXDEV") throw error;
    // The folder is a link to another disk.
    await copyFile(draft, `${file}.draft`);
    await rename(`${file}.draft`, file);
    await rm(draft, { force: true });
  });
  const folder = await open(dirname(file), "r");
  await folder.sync().finally(() => folder.close());
}
