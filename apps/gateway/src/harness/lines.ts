// Parts what a program writes into lines, over whatever borders it arrives.

/** Longest line that is taken; more than any message of a program has reason to be. */
export const LONGEST_LINE_BYTES = 16 * 1024 * 1024;

export interface LineReader {
  push(chunk: Uint8Array): void;
  /** What is left without an end of line is a line too. */
  end(): void;
}

export interface LineReaderOptions {
  onLine(line: string): void;
  /** Told once of each line that goes on beyond the limit; what it says is dropped. */
  onTooLong(bytes: number): void;
  maxBytes?: number;
}

const NEWLINE = 10;

export function createLineReader({
  onLine,
  onTooLong,
  maxBytes = LONGEST_LINE_BYTES,
}: LineReaderOptions): LineReader {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  /** The rest of a line that is too long is not kept. */
  let isSkipping = false;
  const take = (part: Uint8Array) => {
    bytes += part.length;
    if (isSkipping) return;
    if (bytes <= maxBytes) {
      parts.push(part);
      return;
    }
    isSkipping = true;
    parts = [];
    onTooLong(bytes);
  };
  const finish = () => {
    const line = isSkipping ? undefined : Buffer.concat(parts).toString("utf8");
    parts = [];
    bytes = 0;
    isSkipping = false;
    const text = line?.endsWith("\r") ? line.slice(0, -1) : line;
    if (text !== undefined && text !== "") onLine(text);
  };
  return {
    push(chunk) {
      let from = 0;
      for (;;) {
        const at = chunk.indexOf(NEWLINE, from);
        if (at < 0) break;
        take(chunk.subarray(from, at));
        finish();
        from = at + 1;
      }
      if (from < chunk.length) take(chunk.subarray(from));
    },
    end() {
      if (bytes > 0) finish();
    },
  };
}
