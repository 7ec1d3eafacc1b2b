import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  closed,
  countOf,
  firstOf,
  followedFrom,
  type OpenRange,
  type Range,
  withoutFirst,
} from "./branch.ts";

const numbersOf = (ranges: readonly Range[]) =>
  ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));

/** What happens to a branch: entries follow its first ones, as many as the share says. */
const writes = fc.array(
  fc.record({
    keepShare: fc.double({ min: 0, max: 1, noNaN: true }),
    isAppend: fc.boolean(),
    entries: fc.nat({ max: 5 }),
  }),
  { maxLength: 12 },
);

describe("the ranges of a branch", () => {
  it("hold the same entries as a list that is cut and appended to", () => {
    fc.assert(
      fc.property(writes, fc.nat({ max: 20 }), (steps, at) => {
        let branch: readonly OpenRange[] = [[1, null]];
        let list: number[] = [];
        let head = 0;
        for (const { keepShare, isAppend, entries } of steps) {
          const keep = isAppend ? list.length : Math.floor(list.length * keepShare);
          if (!isAppend) branch = followedFrom(firstOf(closed(branch, head), keep), head);
          list = [
            ...list.slice(0, keep),
            ...Array.from({ length: entries }, (_, i) => head + 1 + i),
          ];
          head += entries;
          const ranges = closed(branch, head);
          expect(numbersOf(ranges)).toEqual(list);
          expect(countOf(ranges)).toBe(list.length);
          expect(numbersOf(firstOf(ranges, at))).toEqual(list.slice(0, at));
          expect(numbersOf(withoutFirst(ranges, at))).toEqual(list.slice(at));
        }
      }),
    );
  });

  it("are one as long as nothing was left", () => {
    expect(followedFrom([[1, 7]], 7)).toEqual([[1, null]]);
    expect(followedFrom([[1, 3]], 7)).toEqual([
      [1, 3],
      [8, null],
    ]);
    expect(followedFrom([], 7)).toEqual([[8, null]]);
  });
});
