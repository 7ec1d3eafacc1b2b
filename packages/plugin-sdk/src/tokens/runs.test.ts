import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCodePoint } from "../__fixtures__/code-points.ts";
import { corpora } from "./__fixtures__/corpora.ts";
import { cutRuns, RUN_LIMIT } from "./runs.ts";

const splitsPair = (left: string, right: string) =>
  /[\ud800-\udbff]$/.test(left) && /^[\udc00-\udfff]/.test(right);

describe("cutRuns", () => {
  it("loses nothing and never cuts inside a surrogate pair", () => {
    const text = fc.oneof(
      fc.string({ unit: anyCodePoint, maxLength: 3000, minLength: 200 }),
      fc
        .array(fc.constantFrom("😀", "x", "\u200d", "中", "。", "\n", " ", "'", "7"), {
          minLength: 300,
          maxLength: 3000,
        })
        .map((units) => units.join("")),
    );
    fc.assert(
      fc.property(text, (given) => {
        const pieces = [...cutRuns(given)];
        expect(pieces.join("")).toBe(given);
        pieces.forEach((piece, index) => {
          expect(index > 0 && splitsPair(pieces[index - 1]!, piece)).toBe(false);
        });
      }),
    );
  });

  it.each(["x", "=", "\n", " ", "中", "😀", "👩‍💻", "\u0301", "é", "-="])(
    "leaves no long run of %j uncut",
    (unit) => {
      const longest = Math.max(...[...cutRuns(unit.repeat(20_000))].map((piece) => piece.length));
      expect(longest).toBeLessThanOrEqual(RUN_LIMIT + 1);
    },
  );

  it("cuts a long run after a line end or a full stop when there is one", () => {
    const pieces = [...cutRuns(`${"中".repeat(200)}。${"中".repeat(200)}`)];
    expect(pieces.map((piece) => piece.length)).toEqual([201, 200]);
  });

  it("keeps ordinary text in pieces of thousands of characters, cut before a blank or sign", () => {
    const pieces = [...cutRuns(corpora(100_000).english!)];
    expect(pieces.length).toBeLessThan(8);
    for (const piece of pieces.slice(1)) expect(piece).toMatch(/^[^A-Za-z0-9']/);
  });
});
