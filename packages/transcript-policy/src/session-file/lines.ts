// The lines of a file as bytes, some at a time, however large it is.
import { open } from "node:fs/promises";

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const PIECE_BYTES = 256 * 1024;

export interface Line {
  /** Without its line end, `\n` or `\r\n`. */
  bytes: Buffer;
  /** False: the last one, which no line feed ends. */
  ended: boolean;
}

/** A line of a file. */
export interface FileLine extends Line {
  /** Where it begins in the file, bytes. */
  start: number;
}

/**
 * All lines in order, those of one piece of the file at a time: others have their turn between two
 * pieces. Their bytes hold until the next ones are asked for, as all pieces are read to the same
 * place. No other separator ends a line: they are legal inside JSON text.
 */
export async function* readLines(path: string): AsyncGenerator<FileLine[]> {
  const handle = await open(path, "r");
  try {
    const memory = Buffer.allocUnsafeSlow(PIECE_BYTES);
    let rest: Buffer[] = [];
    /** Where the next line begins. */
    let begin = 0;
    let read = 0;
    for (;;) {
      const { bytesRead } = await handle.read(memory, 0, PIECE_BYTES, null);
      if (bytesRead === 0) break;
      const piece = memory.subarray(0, bytesRead);
      const lines: FileLine[] = [];
      let start = 0;
      for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
        const tail = piece.subarray(start, end);
        const bytes = rest.length === 0 ? tail : Buffer.concat([...rest, tail]);
        const own = bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes;
        lines.push({ bytes: own, ended: true, start: begin });
        rest = [];
        start = end + 1;
        begin = read + start;
      }
      read += bytesRead;
      if (start < piece.length) rest.push(Buffer.from(piece.subarray(start)));
      if (lines.length > 0) yield lines;
    }
    if (rest.length > 0) yield [{ bytes: Buffer.concat(rest), ended: false, start: begin }];
  } finally {
    await handle.close();
  }
}
