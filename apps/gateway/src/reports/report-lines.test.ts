import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createLineReader,
  decodeLine,
  encodeLine,
  encodeStart,
  mayBeBase,
  plainLines,
} from "./report-lines.ts";

const reports = fc.array(
  fc
    .oneof(
      fc.string({ unit: "grapheme", maxLength: 200 }),
      fc.string({ minLength: 33_000, maxLength: 34_000 }),
    )
    .map((turnId) => JSON.stringify({ v: 1, turnId, engineCalls: [], modelCalls: [] })),
  { maxLength: 12 },
);

/** The second as a difference to the first, the others to the second, as the log writes them. */
function fileOf(texts: readonly string[]): string[] {
  const lines: string[] = [];
  let base: { start: number; length: number; text: string } | undefined;
  let depth = 0;
  let start = 0;
  for (const text of texts) {
    const line = encodeLine(text, base);
    if (depth < 2 && mayBeBase(text)) {
      base = { start, length: line.length, text };
      depth++;
    }
    lines.push(line);
    start += line.length + 1;
  }
  return lines;
}

describe("lines of reports", () => {
  it("come back as they were, one by one and as a whole file", async () => {
    await fc.assert(
      fc.asyncProperty(reports, async (texts) => {
        const lines = fileOf(texts);
        const file = lines.join("\n");
        expect(plainLines(file)).toBe(texts.join("\n"));
        const reader = createLineReader(async ({ start, length }) =>
          file.slice(start, start + length),
        );
        for (const [back, line] of lines.toReversed().entries())
          expect(await reader.read(line)).toBe(texts.at(-1 - back));
      }),
    );
  });

  it("of earlier versions are reports, and damaged ones are none", async () => {
    const plain = '{"v":1,"turnId":"a"}';
    expect(decodeLine(plain)).toEqual({ kind: "report", text: plain });
    expect(decodeLine(encodeStart({ turns: 3, bytes: 9 }))).toEqual({
      kind: "start",
      after: { turns: 3, bytes: 9 },
    });
    const line = encodeLine(plain);
    const torn = line.slice(0, -9);
    for (const odd of ["", "{", torn, '{"v":2}', '{"v":2,"z":"AAAA"}', '{"v":3}', "null", "7"])
      expect(decodeLine(odd)).toEqual({ kind: "unreadable" });
    const difference = encodeLine(plain, { start: 0, length: 4, text: "gone" });
    const reader = createLineReader(async () => undefined);
    expect(await reader.read(difference)).toBeUndefined();
    expect(plainLines(`${torn}\n${plain}\n`)).toBe(`${torn}\n${plain}\n`);
  });

  it("say nothing in plain words, which takes a tenth of the room", () => {
    const report = (id: string) =>
      JSON.stringify({ v: 1, turnId: id, note: `the person said ${"secret ".repeat(100)}` });
    const [first, second] = [report("one"), report("two")];
    const line = encodeLine(second, { start: 0, length: 9, text: first });
    expect(line).not.toContain("secret");
    expect(line.length).toBeLessThan(second.length / 10);
  });
});
