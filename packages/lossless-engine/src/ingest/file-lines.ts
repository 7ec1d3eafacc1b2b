// Reads the lines of a file from any place on, piece by piece.
import type { FileHandle } from "node:fs/promises";

/** A line and where it stands in its file, in bytes. */
export interface FileLine {
  /** Without its line feed. */
  readonly text: string;
  readonly start: number;
  /** Behind its line feed, if it has one. */
  readonly end: number;
  /** False: the file ends before it does, so the line may be half written. */
  readonly isEnded: boolean;
}

const LINE_FEED = 10;
const PIECE_BYTES = 128 * 1024;

/** Others have their turn while each piece is read. */
export async function* linesOf(file: FileHandle, from: number): AsyncGenerator<FileLine> {
  let rest: Buffer[] = [];
  let start = from;
  for (let at = from; ; ) {
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.allocUnsafe(PIECE_BYTES),
      position: at,
    });
    if (bytesRead === 0) break;
    const piece = buffer.subarray(0, bytesRead);
    let begin = 0;
    for (let feed = piece.indexOf(LINE_FEED); feed >= 0; feed = piece.indexOf(LINE_FEED, begin)) {
      const bytes = Buffer.concat([...rest, piece.subarray(begin, feed)]);
      const end = at + feed + 1;
      yield { text: bytes.toString("utf8"), start, end, isEnded: true };
      rest = [];
      begin = feed + 1;
      start = end;
    }
    if (begin < bytesRead) rest.push(piece.subarray(begin));
    at += bytesRead;
  }
  const bytes = Buffer.concat(rest);
  if (bytes.length > 0)
    yield { text: bytes.toString("utf8"), start, end: start + bytes.length, isEnded: false };
}
