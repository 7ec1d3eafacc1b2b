import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines, foldSame } from "./text-diff.ts";

const texts = fc
  .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 30 })
  .map((lines) => lines.join("\n"));
const side = (lines: readonly (string | null)[]) =>
  lines.filter((line) => line !== null).join("\n");

describe("two texts side by side", () => {
  it("are each whole, and what is called the same is", () => {
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const lines = diffLines(one, other);
        expect(side(lines.map(({ before }) => before))).toBe(one);
        expect(side(lines.map(({ after }) => after))).toBe(other);
        for (const { kind, before, after } of lines)
          expect(kind === "same").toBe(kind !== "changed" && before === after);
      }),
    );
  });

  it("keep what both have on one level", () => {
    expect(diffLines("head\nold\ntail", "head\nnew\nmore\ntail")).toEqual([
      { kind: "same", before: "head", after: "head" },
      { kind: "changed", before: "old", after: "new" },
      { kind: "added", before: null, after: "more" },
      { kind: "same", before: "tail", after: "tail" },
    ]);
  });

  it("are folded where nothing differs", () => {
    const long = Array.from({ length: 50 }, (_, line) => `line ${line}`);
    const folded = foldSame(diffLines(long.join("\n"), long.with(25, "other").join("\n")));
    expect(folded.map(({ kind }) => kind)).toEqual([
      ...["skipped", "same", "same", "same", "changed", "same", "same", "same", "skipped"],
    ]);
    expect([folded[0]?.before, folded.at(-1)?.before]).toEqual(["22", "21"]);
  });
});
