import { expect, it } from "vitest";
import { wellFormedJson } from "./well-formed.ts";

it("JSON holds no half of a surrogate pair, in values and in names", () => {
  const half = "a\ud800b";
  const value = { list: [half, { [half]: { deep: half } }], whole: "👋", [half]: 1 };
  const mended = "a\ufffdb";
  expect(JSON.parse(wellFormedJson(value))).toEqual({
    list: [mended, { [mended]: { deep: mended } }],
    whole: "👋",
    [mended]: 1,
  });
  expect(wellFormedJson({ a: "x" })).toBe('{"a":"x"}');
});
