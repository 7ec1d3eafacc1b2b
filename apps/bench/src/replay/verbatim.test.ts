import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VERBATIM_CHARS, verbatimIn } from "./verbatim.ts";

const letters = (least: number, most: number) =>
  fc.string({ unit: fc.constantFrom("a", "b"), minLength: least, maxLength: most });

describe("what is quoted", () => {
  it("is every character within 120 that the source holds in one piece, and no other", () => {
    const parts = fc.tuple(letters(0, 9), letters(100, 180), letters(0, 9), letters(0, 200));
    fc.assert(
      fc.property(parts, fc.nat(60), fc.nat(60), ([before, shared, after, other], from, length) => {
        const text = `${before}${shared}${after}`;
        const source = `${other}|${shared}|${other}`;
        const start = Math.min(from, text.length);
        const end = Math.min(text.length, start + length);
        const runs = Array.from({ length: text.length }, (_, at) => at).filter(
          (at) =>
            at <= start &&
            at + VERBATIM_CHARS >= end &&
            at + VERBATIM_CHARS <= text.length &&
            source.includes(text.slice(at, at + VERBATIM_CHARS)),
        );
        expect(verbatimIn(text, source)(start, end)).toBe(runs.length > 0);
      }),
    );
  });

  it("is nothing in a text of fewer characters", () => {
    const text = "x".repeat(VERBATIM_CHARS - 1);
    expect(verbatimIn(text, text.repeat(3))(0, 5)).toBe(false);
  });
});
