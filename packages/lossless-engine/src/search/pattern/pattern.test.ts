import { stepsAtOnce } from "@clew/plugin-sdk/host";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { literalsOf } from "./literals.ts";
import { matcherOf } from "./matcher.ts";
import { PatternError, parsePattern } from "./parse.ts";

const find = (pattern: string, text: string) => stepsAtOnce(matcherOf(parsePattern(pattern))(text));

/** Patterns of the syntax that is offered, with their meaning left to the platform. */
const { pattern } = fc.letrec((tie) => ({
  atom: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(
      "a",
      "b",
      "A",
      "1",
      ".",
      "\\d",
      "\\w",
      "\\s",
      "\\W",
      "[ab]",
      "[^a-c]",
      "[\\d_]",
    ),
    fc.constantFrom("\\b", "^", "$", "\\.", " ", "é", "\\n", "\\x61", "[\\s\\S]"),
    tie("pattern").map((inner) => `(${inner})`),
    tie("pattern").map((inner) => `(?:${inner})`),
  ),
  piece: fc
    .tuple(tie("atom"), fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}"))
    .map(([atom, times]) => (/^(\\b|\^|\$)$/.test(String(atom)) ? `${atom}` : `${atom}${times}`)),
  pattern: fc
    .array(
      fc.array(tie("piece"), { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join("")),
      { minLength: 1, maxLength: 2 },
    )
    .map((options) => options.join("|")),
}));

describe("a pattern", () => {
  it("is found where the platform's own expressions begin to find it", () => {
    fc.assert(
      fc.property(
        pattern as fc.Arbitrary<string>,
        fc.string({ unit: fc.constantFrom("a", "b", "A", "1", "_", " ", "\n", ".", "é", "😀") }),
        (source, text) => {
          const theirs = new RegExp(source, "imu").exec(text);
          const ours = find(source, text);
          expect(ours?.start).toBe(theirs?.index);
          if (ours === undefined) return;
          // Theirs takes the first of several ways, ours the longest.
          const points = (end: number) => [...text.slice(0, end)].length;
          const [start, all] = [points(ours.start), points(text.length)];
          const endsAt = (end: number) => {
            const whole = new RegExp(`(?:${source})(?=[^]{${all - end}}(?![^]))`, "imuy");
            whole.lastIndex = ours.start;
            return whole.test(text);
          };
          const ends = Array.from({ length: all - start + 1 }, (_, more) => start + more);
          expect(points(ours.end)).toBe(ends.findLast(endsAt));
        },
      ),
    );
  });

  it("that would take others for ever is answered at once", () => {
    const text = "a".repeat(20_000);
    expect(find("(a+)+b", text)).toBeUndefined();
    expect(find("(a|a)*c", text)).toBeUndefined();
    expect(find("(.*)(.*)(.*)(.*)x", text)).toBeUndefined();
  });

  it("with many repetitions gives others their turn, however long the text", () => {
    for (const source of [
      "(?:a|aa|aaa|aaaa){1,200}Q",
      "(a|b|ab|ba|aa){0,99}q",
      "[^\\n]{1,1000}ZZZ",
      ".{0,200}needleQ",
      "[ab]{300}[ab]{0,300}c",
    ]) {
      const random = "abbabaabbaababba".repeat(10_000);
      const steps = matcherOf(parsePattern(source))(random);
      // What is done from one step to the next is counted, not timed.
      let count = 0;
      while (count < 5_000 && !steps.next().done) count++;
      expect(count).toBeGreaterThan(1);
      expect(count).toBeLessThan(2_000);
    }
  });

  it("finds letters whatever their case, in other scripts too", () => {
    expect(find("größe", "die GRÖSSE, die Größe")).toEqual({ start: 16, end: 21 });
    expect(find("привет", "ПРИВЕТ")).toEqual({ start: 0, end: 6 });
  });

  it("that is not offered is refused in words", () => {
    const refused = {
      "(a": "a ( is not closed",
      "a)": "a ) has no ( before it",
      "*a": "* stands where there is nothing to repeat",
      "(?=a)": "of the groups that begin with (? only (?: is offered",
      "(a)\\1": "references to groups are not offered",
      "[a": "it ends too early",
      "a{2000}": "at most 1000 repetitions can be asked for",
      "a**": "two repetitions follow each other",
      "\\p{L}": "\\p is not offered",
      "[b-a]": "a range in [ ] is out of order",
    };
    for (const [source, reason] of Object.entries(refused))
      expect(() => parsePattern(source)).toThrow(new PatternError(reason));
    expect(() => matcherOf(parsePattern("((a{900}){900}){900}"))).toThrow(PatternError);
    expect(() => parsePattern("(".repeat(5_000))).toThrow(PatternError);
  });

  it("names the texts that stand in everything it finds", () => {
    expect(literalsOf(parsePattern("zzz[0-9]{4}qqq"))).toEqual(["zzz", "qqq"]);
    expect(literalsOf(parsePattern("TICKET-\\d+ is (open|closed) now"))).toEqual([
      "TICKET-",
      " is ",
      " now",
    ]);
    expect(literalsOf(parsePattern("a|b"))).toEqual([]);
    expect(literalsOf(parsePattern("ab+c?d"))).toEqual(["ab", "d"]);
    fc.assert(
      fc.property(
        pattern as fc.Arbitrary<string>,
        fc.string({ unit: fc.constantFrom("a", "b", "A", "1", " ", ".") }),
        (source, text) => {
          const match = find(source, text);
          if (match === undefined) return;
          const matched = text.slice(match.start).toLowerCase();
          for (const literal of literalsOf(parsePattern(source)))
            expect(matched).toContain(literal.toLowerCase());
        },
      ),
    );
  });
});
