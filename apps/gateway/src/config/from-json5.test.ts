// Holds what is read fast against the reader of JSON5.
import fc from "fast-check";
import JSON5 from "json5";
import { describe, expect, it } from "vitest";
import { fromJson5 } from "./from-json5.ts";

const read = (parse: (text: string) => unknown, text: string) => {
  try {
    return { value: parse(text) };
  } catch (error) {
    return { error: (error as Error).message };
  }
};

describe("JSON5", () => {
  it("is read as its own reader does, also where it is JSON", () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: "grapheme" }), (text) => {
        expect(read(fromJson5, text)).toEqual(read(JSON5.parse, text));
      }),
    );
    const texts = [
      '{"__proto__":{"a":1},"a":1,"a":2}',
      "{a:1,} // why",
      "\ufeff{}",
      "",
      "{",
      '"\u2028"',
      "[1e999,-0,0x10]",
    ];
    for (const text of texts) expect(read(fromJson5, text)).toEqual(read(JSON5.parse, text));
  });
});
