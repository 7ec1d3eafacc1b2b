import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createLineReader,
  createLineWriter,
  decodeLine,
  encodeLine,
  encodeStart,
  type LinePlace,
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

function startsOf(lines: readonly string[]): number[] {
  let start = 0;
  return lines.map((line) => {
    start += line.length + 1;
    return start - line.length - 1;
  });
}

const linesOf = (file: string) => ({
  lineAt: async ({ start, length }: LinePlace) => file.slice(start, start + length),
  all: async () => file,
});

describe("lines of reports", () => {
  it("come back as they were, one by one and as a whole file", async () => {
    await fc.assert(
      fc.asyncProperty(reports, async (texts) => {
        const lines = fileOf(texts);
        const file = lines.join("\n");
        expect(plainLines(file)).toBe(texts.join("\n"));
        const reader = createLineReader(linesOf(file));
        const places = startsOf(lines);
        for (const at of [...lines.keys()].toReversed())
          expect(await reader.read(lines[at]!, places[at]!)).toBe(texts[at]);
        const inOrder = createLineReader(linesOf(file));
        for (const [at, line] of lines.entries())
          expect(await inOrder.read(line, places[at]!)).toBe(texts[at]);
      }),
    );
  });

  it("around a damaged one come back, also where it is longer or shorter than it was", async () => {
    const texts = Array.from({ length: 140 }, (_, turn) =>
      JSON.stringify({ v: 1, turnId: `${turn}`, note: `berth ${turn * 31} `.repeat(9) }),
    );
    const writer = createLineWriter();
    const lines = texts.map((text) => writer.lineOf(text).trimEnd());
    for (const at of [1, 2, 3, 20, 129, 130, 131, 139])
      for (const left of ["", "x".repeat(lines[at]!.length), lines[at]!.slice(0, 50)]) {
        const damaged = lines.map((line, place) => (place === at ? `x${left}` : line));
        const file = damaged.join("\n");
        const places = startsOf(damaged);
        const reader = createLineReader(linesOf(file));
        for (const [place, line] of damaged.entries())
          if (place !== at) expect(await reader.read(line, places[place]!)).toBe(texts[place]);
        const plain = plainLines(file).split("\n");
        expect(plain.filter((_, place) => place !== at)).toEqual(
          texts.filter((_, place) => place !== at),
        );
      }
  });

  it("come back where what they are a difference to is lost with the lines beside it", async () => {
    const texts = Array.from({ length: 60 }, (_, turn) =>
      JSON.stringify({ v: 1, turnId: `${turn}`, note: `berth ${turn * 31} `.repeat(9) }),
    );
    const writer = createLineWriter();
    const lines = texts.map((text) => writer.lineOf(text).trimEnd());
    for (const [from, count] of [
      [0, 2],
      [1, 2],
      [1, 8],
      [0, 9],
      [30, 20],
    ] as const) {
      const left = lines.toSpliced(from, count);
      const reader = createLineReader(linesOf(left.join("\n")));
      const places = startsOf(left);
      for (const [place, line] of left.entries())
        expect(await reader.read(line, places[place]!)).toBe(texts.toSpliced(from, count)[place]);
    }
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
    const reader = createLineReader(linesOf(""));
    expect(await reader.read(difference, 9)).toBeUndefined();
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
