import { describe, expect, it } from "vitest";
import { placeInWords, twoCallsInWords } from "./call-words.ts";

describe("words for a place in a session", () => {
  it.each([
    ["58.3", 58, 3],
    ["call 58.3", 58, 3],
    ["t58 c3", 58, 3],
    ["T58C3", 58, 3],
    ["turn 58 call 3", 58, 3],
    ["turn 58, call 3", 58, 3],
    ["call 3 of turn 58", 58, 3],
    [" c3 t58 ", 58, 3],
    ["t58", 58, null],
    ["Turn 058", 58, null],
  ])("“%s” names one", (words, turn, number) => {
    expect(placeInWords(words)).toEqual({ turn, number });
  });

  it.each(["58", "KEY-4711", "turn", "the tide", "1.2.3", "turn the page", "c3", "t58 d3"])(
    "“%s” names none",
    (words) => expect(placeInWords(words)).toBeNull(),
  );

  it.each(["57.1..58.3", "57.1 → 58.3", "57.1 to 58.3", "57.1 vs 58.3", "diff 57.1 58.3"])(
    "“%s” names two calls",
    (words) =>
      expect(twoCallsInWords(words)).toEqual([
        { turn: 57, number: 1 },
        { turn: 58, number: 3 },
      ]),
  );

  it.each(["57.1", "57.1 and the tide", "t57..t58", "57.1..58.3..59.1", "from 1 to 2"])(
    "“%s” names no two",
    (words) => expect(twoCallsInWords(words)).toBeNull(),
  );
});
