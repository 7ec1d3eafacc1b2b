// The lines of a file, or of what it holds, one at a time, however large it is.
import { createReadStream } from "node:fs";

const NEWLINE = 0x0a;

/**
 * Splits at `\n` and `\r\n` only: other line separators are legal inside JSON text. Blank lines are
 * left out.
 */
export async function* readLines(source: string | Uint8Array): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let first = true;
  const chunks: AsyncIterable<Buffer> | Buffer[] =
    typeof source === "string"
      ? createReadStream(source)
      : [Buffer.from(source.buffer, source.byteOffset, source.byteLength)];
  for await (const chunk of chunks) {
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
