// Reads the lines of a file piece by piece, so that no file is too long.
import { type FileHandle, open } from "node:fs/promises";

/** A part of a file, in bytes. */
export interface FilePart {
  /** Where a line begins. Absent: the first one. */
  from?: number;
  /** Where to stop. Absent: at the end of the file, as it is when it is opened. */
  to?: number;
}

/** What follows the last line feed. */
export interface UnfinishedLine {
  /** Nothing, when the part ends with a line feed. */
  bytes: Buffer;
  /** Where it begins in the file. */
  start: number;
  /** Where the part ends in the file. */
  end: number;
}

const LINE_FEED = 10;
const PIECE_BYTES = 256 * 1024;

/**
 * Tells of each line, without its line feed, and where it begins, and waits for what it may be
 * promised; the line's bytes hold until then. Others have their turn between two pieces. Throws
 * what the file system throws.
 */
export async function readFileLines(
  file: string,
  { from = 0, to }: FilePart,
  onLine: (line: Buffer, start: number) => unknown,
): Promise<UnfinishedLine> {
  const handle = await open(file, "r");
  try {
    const end = Math.min(to ?? Infinity, (await handle.stat()).size);
    let rest: Buffer[] = [];
    let lineStart = from;
    for await (const { bytes, at } of piecesOf(handle, from, end)) {
      let start = 0;
      for (let feed = bytes.indexOf(LINE_FEED); feed >= 0; feed = bytes.indexOf(LINE_FEED, start)) {
        const tail = bytes.subarray(start, feed);
        const waits = onLine(rest.length === 0 ? tail : Buffer.concat([...rest, tail]), lineStart);
        if (waits instanceof Promise) await waits;
        rest = [];
        start = feed + 1;
        lineStart = at + start;
      }
      // A copy: the next piece is read to where this one is.
      if (start < bytes.length) rest.push(Buffer.from(bytes.subarray(start)));
    }
    return { bytes: Buffer.concat(rest), start: lineStart, end };
  } finally {
    await handle.close();
  }
}

/** The bytes of a part, piece by piece, each to be looked at before the next one is asked for. */
export async function* readFilePieces(file: string, from: number, to: number) {
  const handle = await open(file, "r");
  try {
    yield* piecesOf(handle, from, to);
  } finally {
    await handle.close();
  }
}

/**
 * Each is read while the one before is looked at. All in the same memory: a file of any size takes
 * no more than two pieces.
 */
async function* piecesOf(handle: FileHandle, from: number, end: number) {
  const bytes = Math.max(0, Math.min(PIECE_BYTES, end - from));
  const memory = [Buffer.allocUnsafeSlow(bytes), Buffer.allocUnsafeSlow(bytes)] as const;
  const read = async (position: number, buffer: Buffer) => {
    const length = Math.min(bytes, end - position);
    return length <= 0 ? 0 : (await handle.read({ buffer, length, position })).bytesRead;
  };
  let at = from;
  let count = await read(at, memory[0]);
  for (let turn = 0; count > 0; turn = 1 - turn) {
    const ahead = read(at + count, memory[1 - turn]!);
    // Whoever does not ask for it need not hear of its failure.
    ahead.catch(() => {});
    yield { bytes: memory[turn]!.subarray(0, count), at };
    at += count;
    count = await ahead;
  }
}

/** The bytes of a part. */
export async function readFilePart(file: string, from: number, to: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const { bytes } of readFilePieces(file, from, to)) pieces.push(Buffer.from(bytes));
  return Buffer.concat(pieces);
}
