import { expect, it } from "vitest";
import { describeMissingFacts } from "./summary-words.ts";

const none = { all: 0, held: 0 };
const kinds = { paths: none, symbols: none, ids: none, numbers: none };

it("what a summary does not hold is named in part, and the rest is counted", () => {
  const missing = ["a", "b", "c", "d", "e", "f"];
  expect(describeMissingFacts({ all: 116, held: 99, kinds, missing })).toBe(
    "; missing: a, b, c, d, e and 12 more",
  );
  expect(describeMissingFacts({ all: 3, held: 1, kinds, missing: ["a", "b"] })).toBe(
    "; missing: a, b",
  );
  expect(describeMissingFacts({ all: 3, held: 3, kinds, missing: [] })).toBe("");
});
