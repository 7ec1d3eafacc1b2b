import { describe, expect, it } from "vitest";
import { placeOfWords, wordsOf } from "./place-of-words.ts";

describe("the place of words", () => {
  it("is where the longest of them stands, when all do", () => {
    const text = `Once the tide\ntable ${"of this year ".repeat(40)} was lost, nobody sailed`;
    expect(placeOfWords(text, "TIDE nobody")).toMatch(/^….*was lost, nobody sailed$/);
    expect(placeOfWords(text, "tide somebody")).toBeUndefined();
  });

  it("is that of words that stand together where they are quoted", () => {
    expect(wordsOf('"tide  table" lost')).toEqual(["tide table", "lost"]);
    expect(placeOfWords("the tide and the table", '"tide table"')).toBeUndefined();
    expect(placeOfWords("the tide\n table", '"tide table"')).toBe("the tide table");
  });

  it("is nowhere where nothing is looked for", () => {
    expect(placeOfWords("anything", " ")).toBeUndefined();
  });
});
