import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseToolArguments } from "./tool-arguments.ts";

describe("parseToolArguments", () => {
  it("reads every JSON object as it is", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const json = JSON.stringify(value);
        expect(parseToolArguments(json)).toEqual({ ok: true, value: JSON.parse(json) });
      }),
    );
  });

  it("takes nothing and null as no arguments", () => {
    for (const text of ["", "  ", "null"])
      expect(parseToolArguments(text)).toEqual({ ok: true, value: {} });
  });

  it("unwraps an object inside a JSON string", () => {
    expect(parseToolArguments(JSON.stringify('{"a":1}'))).toEqual({ ok: true, value: { a: 1 } });
  });

  it("takes raw line breaks inside strings as they are", () => {
    expect(parseToolArguments('{\n"text": "one\ntwo\t\\n"}')).toEqual({
      ok: true,
      value: { text: "one\ntwo\t\n" },
    });
  });

  it("refuses what is no object", () => {
    for (const text of ["{path: a", '{"a":', "[1]", "7", '"word"', "{}{}"])
      expect(parseToolArguments(text)).toEqual({ ok: false });
  });
});
