import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indexedText, indexNeeds, spelled } from "./spelling.ts";

const letters = fc.string({ unit: "grapheme", maxLength: 12 });
const signs = fc.string({
  unit: fc.constantFrom(..."aAé\u0301ßẞſσςΣİıﬁK数据เก각ㄱ👍👩‍💻-./_% \n\t\u00a0\0\ud800".split("")),
  maxLength: 12,
});
const text = fc.oneof(letters, signs);

/** As LIKE takes a pattern. */
const isLike = (held: string, pattern: string) =>
  held.includes(pattern.slice(1, -1).replace(/\\([\\%_])/g, "$1"));

describe("the spelling of the index", () => {
  it("is ASCII without small letters, whatever the text", () => {
    fc.assert(
      fc.property(text, (some) => {
        expect(spelled(some)).toMatch(/^[ -`{-~]*$/);
      }),
    );
  });

  it("holds what the text holds, in either case and composed or not", () => {
    fc.assert(
      fc.property(
        text,
        text,
        text,
        fc.constantFrom("NFC", "NFD"),
        (before, wanted, after, form) => {
          const written = `${before}${wanted}${after}`.normalize(form);
          const { patterns, words } = indexNeeds({ literals: [wanted], words: [] });
          for (const some of [written, written.toLowerCase()]) {
            const held = spelled(some);
            expect(patterns.filter((pattern) => !isLike(held, pattern))).toEqual([]);
            const known = held.split(/[^A-Z0-9]+/);
            expect(words.filter((word) => !known.includes(word))).toEqual([]);
          }
        },
      ),
    );
  });

  it("asks a literal of code for its parts, and for the words that it holds whole", () => {
    expect(indexNeeds({ literals: ["src/a_b.ts:12"], words: [] })).toEqual({
      ...{ patterns: ["%SRC/A\\_B.TS:12%"], hasTrigrams: true, words: ["TS"] },
    });
    expect(indexNeeds({ literals: ["ab"], words: [] }).hasTrigrams).toBe(false);
    expect(indexNeeds({ literals: ["a b"], words: [] }).hasTrigrams).toBe(true);
    expect(indexNeeds({ literals: ["数"], words: [] })).toMatchObject({ hasTrigrams: true });
    expect(indexNeeds({ literals: [" "], words: ["Straße"] })).toEqual({
      ...{ patterns: [], hasTrigrams: false, words: ["STRASSE"] },
    });
  });

  it("leaves data out, and what is too long", () => {
    const data = Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 7919) % 251));
    for (const bulk of [data.toString("base64"), "a word ".repeat(20_000), "a".repeat(3000)])
      expect(indexedText(bulk)).toEqual({ text: "", isBulk: true });
    expect(indexedText("a word")).toEqual({ text: "A WORD", isBulk: false });
  });
});
