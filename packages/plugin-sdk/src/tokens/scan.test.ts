import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCodePoint } from "../__fixtures__/code-points.ts";
import { FEATURE } from "./features.ts";
import { scanSteps, scanText, type TextScan } from "./scan.ts";

const countsOf = ({ features }: TextScan) =>
  Object.fromEntries(
    Object.entries(FEATURE).flatMap(([name, at]) =>
      features[at] === 0 ? [] : [[name, features[at]]],
    ),
  );

describe("scanText", () => {
  it.each<[text: string, counts: Partial<Record<keyof typeof FEATURE, number>>]>([
    ["word", { words: 1 }],
    ["Word", { words: 1 }],
    ["HTMLElement", { words: 1, capitals: 1, wordChars5to8: 2 }],
    ["HTml", { words: 1, capitals: 1 }],
    ["internationally", { words: 1, wordChars5to8: 4, lettersBeyond8: 7 }],
    ["INTERNATIONAL", { capitals: 1, lettersBeyond8: 5 }],
    ["naïve", { words: 1, wordChars5to8: 1, latinExtended: 1 }],
    ["1234567", { digitGroups: 3 }],
    [" 12", { digitGroups: 1, spacedDigits: 1 }],
    ["A1B", { capitals: 2, digitGroups: 1, digitBesideCapital: 2 }],
    ["a1", { words: 1, digitGroups: 1 }],
    ["a  b", { words: 2, spaceRuns: 1 }],
    ["-=-=-=", { punctuation: 1, morePunctuation: 3, punctuation5up: 2 }],
    ["=====", { punctuation: 1, morePunctuation: 2, rules: 2 }],
    ["zzzzzz", { words: 1, repeatedLetters: 3 }],
    ["─────", { symbols: 3, rules: 2 }],
    ["\r\n\r\n\r\n", { moreNewlines: 2 }],
    ["да, 漢字", { cyrillicWords: 1, punctuation: 1, han: 2 }],
    ["कखगघङचछजझञट", { indic: 9, letters07: 2 }],
    ["🚀𐍈\ud800", { astral: 1, astralLetters: 1, otherBmp: 1 }],
  ])("counts what %j is made of", (text, counts) => {
    expect(countsOf(scanText(text))).toEqual(counts);
  });

  it("counts the sixteenth blank as the second, and all beyond as more", () => {
    const mixed = " \t".repeat(20);
    expect(countsOf(scanText(mixed))).toEqual({ spaceRuns: 1, moreSpaces: 24 });
  });

  it("counts the bytes that a text has in UTF-8", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCodePoint, maxLength: 200 }), (text) => {
        expect(scanText(text).bytes).toBe(Buffer.byteLength(text));
      }),
    );
  });

  it("finds in pieces what it finds at once, also where a piece ends within a character", () => {
    const text = `x${"🦊".repeat(200_000)}${"Word1 ".repeat(60_000)}`;
    const steps = scanSteps(text);
    let pieces = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) pieces++;
    expect(step.value).toEqual(scanText(text));
    expect(pieces).toBeGreaterThan(2);
  });
});
