// Holds the common order of two lists against what it promises.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commonOrder } from "./common-order.ts";

const lists = fc.array(fc.constantFrom("a", "b", "c", "d", "e"), { maxLength: 12 });

/** How long the longest common list is, in the simplest way. */
function longest(a: readonly string[], b: readonly string[]): number {
  const [first, ...rest] = a;
  if (first === undefined) return 0;
  const at = b.indexOf(first);
  const without = longest(rest, b);
  return at < 0 ? without : Math.max(without, 1 + longest(rest, b.slice(at + 1)));
}

describe("the common order of two lists", () => {
  it("pairs equal items, crosses none, and is as long as can be", () => {
    fc.assert(
      fc.property(lists, lists, (before, next) => {
        const pairs = [...commonOrder(before, next)].sort(([a], [b]) => a - b);
        expect(pairs.length).toBe(longest(before, next));
        for (const [index, place] of pairs) expect(next[index]).toBe(before[place]);
        const places = pairs.map(([, place]) => place);
        expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
      }),
    );
  });

  it("pairs the earlier of two that would do", () => {
    expect([...commonOrder(["a"], ["a", "a"])]).toEqual([[0, 0]]);
  });
});
