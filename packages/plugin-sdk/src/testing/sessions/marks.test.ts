import { describe, expect, it } from "vitest";
import { estimateText } from "../../tokens/estimate.ts";
import { markOf, newBase, saltInWords, saltOf, tagsOf } from "./marks.ts";

describe("marks of sessions", () => {
  it("differ, and take as many tokens as any other, so that a session run again is as large", () => {
    const base = newBase();
    const marks = Array.from({ length: 200 }, (_, run) => {
      const tag = tagsOf({ base, run });
      return Array.from({ length: 20 }, () => markOf(tag(), 7));
    }).flat();
    expect(new Set(marks).size).toBe(marks.length);
    const sizes = marks.map((mark) => JSON.stringify(estimateText(`notes ${mark} say`)));
    expect(new Set(sizes).size).toBe(1);
  });

  it("are the same for the same salt, as it is printed, and others for another", () => {
    const salt = { base: "kitten 1", run: 12 };
    const words = (text: string) => {
      const tag = tagsOf(saltOf(text));
      return [tag(), tag()];
    };
    expect(words(saltInWords(salt))).toEqual(words("kitten 1.12"));
    expect(words("kitten 1.12")).not.toEqual(words("kitten 1.13"));
    expect(words("kitten 1.12")).not.toEqual(words("kitten 2.12"));
  });
});
