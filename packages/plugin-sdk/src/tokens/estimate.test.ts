import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anyCodePoint } from "../__fixtures__/code-points.ts";
import { corpora } from "./__fixtures__/corpora.ts";
import { SCRIPTS } from "./__fixtures__/scripts.ts";
import { TERMINAL } from "./__fixtures__/terminal.ts";
import { byteBound } from "./counter.ts";
import { estimateText } from "./estimate.ts";
import { type ExactCounter, loadExactCounter } from "./tiktoken.ts";

const anyText = fc.oneof(
  fc.string({ unit: anyCodePoint, maxLength: 400 }),
  fc.string({ unit: "grapheme", maxLength: 200 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
    .map((codes) => String.fromCharCode(...codes)),
);

/** The characters of each `size` code points that mean something. */
const blocksOf = (from: number, to: number, size: number): string[][] =>
  Array.from({ length: (to - from) / size }, (_, block) =>
    Array.from({ length: size }, (_, at) => String.fromCodePoint(from + block * size + at)).filter(
      (sign) => /\p{Assigned}/u.test(sign),
    ),
  ).filter(({ length }) => length > 2);

describe("estimateText", () => {
  it("orders its bounds: 0 <= low <= estimate <= high <= bytes, whole numbers all, for any text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { estimate, low, high } = estimateText(text);
        expect([estimate, low, high].every(Number.isInteger)).toBe(true);
        expect(0 <= low && low <= estimate && estimate <= high && high <= byteBound(text)).toBe(
          true,
        );
        expect(estimate > 0).toBe(text !== "");
      }),
    );
  });

  it("gives a joined text about the sum of its parts", () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        const sum = estimateText(a).estimate + estimateText(b).estimate;
        // What differs is the run at the seam, and rounding.
        expect(Math.abs(estimateText(a + b).estimate - sum)).toBeLessThanOrEqual(14);
      }),
    );
  });

  it("does not depend on where the same words stand", () => {
    expect(estimateText("alpha beta\n".repeat(50)).estimate).toBe(
      estimateText("alpha beta\n".repeat(49)).estimate + 2,
    );
  });

  describe("against the exact count", () => {
    let exact: ExactCounter;
    beforeAll(async () => {
      exact = await loadExactCounter();
    });
    afterAll(() => exact.free());

    it("is within a fifth of the count for Hebrew prose", () => {
      const text = "הישיבה נדחתה ליום שלישי בשעה עשר כי המנהל נמצא בנסיעה. ".repeat(40);
      const ratio = estimateText(text).estimate / exact.count(text);
      expect(ratio).toBeGreaterThan(0.8);
      expect(ratio).toBeLessThan(1.2);
    });

    it.each(Object.entries(SCRIPTS))("is within its own bounds for %s", (_, text) => {
      const many = `${text}\n`.repeat(5);
      const { low, high } = estimateText(many);
      const counted = exact.count(many);
      expect(low).toBeLessThanOrEqual(counted);
      expect(high).toBeGreaterThanOrEqual(counted);
    });

    it.each(["data ", "a b c d ", "1 2 3 4 5 ", "1,2,3;4 ", "go to it at 5 "])(
      "is never less, by its high bound, than %j again and again",
      (text) => {
        const many = text.repeat(500);
        expect(estimateText(many).high).toBeGreaterThanOrEqual(exact.count(many));
      },
    );

    it.each(Object.entries(TERMINAL))("is never less, by its high bound, than %s", (_, text) => {
      expect(estimateText(text).high).toBeGreaterThanOrEqual(exact.count(text));
    });

    it("is never less for the signs of any block from arrows to Chinese parts, nor emoji", () => {
      const blocks = [...blocksOf(0x2190, 0x3000, 0x40), ...blocksOf(0x1f000, 0x1fb00, 0x40)];
      const under = blocks.filter((signs) => {
        const text = signs.flatMap((one, at) => [one, signs[(at * 7) % signs.length]!]).join("");
        return estimateText(text).high < exact.count(text);
      });
      expect(blocks.length).toBeGreaterThan(70);
      expect(under.map(([first]) => first!.codePointAt(0)!.toString(16))).toEqual([]);
    });

    const kinds = Object.entries(corpora(20_000));
    it.each(kinds)("is within its own bounds for %s", (kind, text) => {
      const { estimate, low, high } = estimateText(text);
      const counted = exact.count(text);
      // Endless repetition is estimated high on purpose: cheap to be wrong there, dear to be under.
      if (!["oneLetter", "ruler", "newlines"].includes(kind))
        expect(low, `${estimate} for ${counted}`).toBeLessThanOrEqual(counted);
      expect(high, `${estimate} for ${counted}`).toBeGreaterThanOrEqual(counted);
    });
  });
});
