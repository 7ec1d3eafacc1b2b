// The lines of a file, one at a time, however large it is.
import { createReadStream } from "node:fs";

const NEWLINE = 0x0a;

/**
 * Others have their turn between two chunks. Splits at `\n` and `\r\n` only: other line separators
 * are legal inside JSON text. Blank lines are left out.
 */
export async function* readLines(path: string): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let first = true;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield* asLine(Buffer.concat([...rest, chunk.subarray(start, end)]), first);
      rest = [];
      first = false;
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  yield* asLine(Buffer.concat(rest), first);
}

function* asLine(bytes: Buffer, first: boolean): Generator<string> {
  const text = bytes.toString("utf8").replace(/\r$/, "");
  const line = first ? text.replace(/^\uFEFF/, "") : text;
  if (line.trim() !== "") yield line;
}
