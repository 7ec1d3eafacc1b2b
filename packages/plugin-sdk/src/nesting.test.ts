import { describe, expect, it } from "vitest";
import { MAX_LEVELS, withoutDeepParts } from "./nesting.ts";

function nested(levels: number): unknown {
  let value: unknown = "end";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

describe("a value", () => {
  it("that is not too deep is the very value", () => {
    const value = nested(MAX_LEVELS);
    expect(withoutDeepParts(value)).toBe(value);
  });

  it("that is too deep says what was left out, and keeps what lies higher", () => {
    const bounded = withoutDeepParts({ kept: 1, deep: nested(5_000) });
    expect(bounded.kept).toBe(1);
    expect(JSON.stringify(bounded)).toContain("[left out: nested deeper than 200 levels]");
    expect(JSON.stringify(bounded).length).toBeLessThan(2_000);
  });
});
