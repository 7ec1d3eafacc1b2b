// Reads the lines of a file piece by piece, so that no file is too long.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "node:zlib";

/** A part of a file, in bytes. */
export interface FilePart {
  /** Where a line begins. Absent: the first one. */
  from?: number;
  /** Where to stop. Absent: at the end of the file, as it is when it is opened. */
  to?: number;
  /**
   * True: a short file is read without a way to another thread and back, for a program that has
   * nothing else to do meanwhile. Absent: others have their turn.
   */
  atOnce?: boolean | undefined;
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
  { from = 0, to, atOnce = false }: FilePart,
  onLine: (line: Buffer, start: number) => unknown,
): Promise<UnfinishedLine> {
  const short = atOnce ? readShortFile(file) : undefined;
  if (short !== undefined) {
    const end = Math.min(to ?? Infinity, short.length);
    const piece = { bytes: short.subarray(from, Math.max(from, end)), at: from };
    return linesIn([piece], { from, end }, onLine);
  }
  const handle = await open(file, "r");
  try {
    const end = Math.min(to ?? Infinity, (await handle.stat()).size);
    return await linesIn(piecesOf(handle, from, end), { from, end }, onLine);
  } finally {
    await handle.close();
  }
}

interface Piece {
  bytes: Buffer;
  /** Where it begins in the file. */
  at: number;
}

async function linesIn(
  pieces: AsyncIterable<Piece> | Iterable<Piece>,
  { from, end }: { from: number; end: number },
  onLine: (line: Buffer, start: number) => unknown,
): Promise<UnfinishedLine> {
  let rest: Buffer[] = [];
  let lineStart = from;
  for await (const { bytes, at } of pieces) {
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
}

/** Undefined: it is too long for that, or no file. Throws what the file system throws. */
export function readShortFile(file: string): Buffer | undefined {
  // What is no file must not keep the process waiting.
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(handle);
    if (!found.isFile() || found.size > PIECE_BYTES) return undefined;
    const bytes = Buffer.allocUnsafe(found.size);
    return bytes.subarray(0, readSync(handle, bytes, 0, found.size, 0));
  } finally {
    closeSync(handle);
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
  const ahead = from + bytes < end ? bytes : 0;
  const memory = [Buffer.allocUnsafeSlow(bytes), Buffer.allocUnsafeSlow(ahead)] as const;
  const read = async (position: number, buffer: Buffer) => {
    const length = Math.min(bytes, end - position);
    return length <= 0 || buffer.length === 0
      ? 0
      : (await handle.read({ buffer, length, position })).bytesRead;
  };
  let at = from;
  let count = await read(at, memory[0]);
  for (let turn = 0; count > 0; turn = 1 - turn) {
    const next = read(at + count, memory[1 - turn]!);
    // Whoever does not ask for it need not hear of its failure.
    next.catch(() => {});
    yield { bytes: memory[turn]!.subarray(0, count), at };
    at += count;
    count = await next;
  }
}

/** The bytes of a part. */
export async function readFilePart(file: string, from: number, to: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const { bytes } of readFilePieces(file, from, to)) pieces.push(Buffer.from(bytes));
  return Buffer.concat(pieces);
}

/** The CRC of a part, `before` being that of what comes before it. */
export async function crcOfPart(
  file: string,
  from: number,
  to: number,
  before = 0,
): Promise<number> {
  let crc = before;
  for await (const { bytes } of readFilePieces(file, from, to)) crc = crc32(bytes, crc);
  return crc;
}
