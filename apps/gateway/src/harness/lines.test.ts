import { describe, expect, it } from "vitest";
import { createLineReader } from "./lines.ts";

function read(chunks: readonly (string | Uint8Array)[], maxBytes?: number) {
  const lines: string[] = [];
  const tooLong: number[] = [];
  const reader = createLineReader({
    onLine: (line) => lines.push(line),
    onTooLong: (bytes) => tooLong.push(bytes),
    ...(maxBytes !== undefined && { maxBytes }),
  });
  for (const chunk of chunks) reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  reader.end();
  return { lines, tooLong };
}

describe("lines of a program", () => {
  it("are whole wherever chunks end, in the middle of a character too", () => {
    const bytes = Buffer.from('{"a":"höher"}\r\n\n{"b":1}\nrest');
    const chunks = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(read(chunks).lines).toEqual(['{"a":"höher"}', '{"b":1}', "rest"]);
  });

  it("are dropped beyond the limit, told of once, and the next one is whole again", () => {
    const { lines, tooLong } = read(["short\n", "x".repeat(8), "y".repeat(50), "\nagain\n"], 10);
    expect(lines).toEqual(["short", "again"]);
    expect(tooLong).toEqual([58]);
  });
});
