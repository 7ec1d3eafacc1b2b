import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { itemsOf, locate, withEdits } from "./locate.ts";

const record = fc.dictionary(fc.string(), fc.jsonValue());
const spaces = fc.constantFrom(0, 2);
const textAt = (line: Buffer, { start, end }: { start: number; end: number }) =>
  line.subarray(start, end).toString("utf8");

describe("a value in a line", () => {
  it("is found where it stands, at any depth", () => {
    fc.assert(
      fc.property(
        record,
        record,
        fc.string(),
        fc.string(),
        spaces,
        (outer, inner, one, two, indent) => {
          const value = { ...outer, [one]: { ...inner, [two]: "wanted" } };
          const line = Buffer.from(JSON.stringify(value, null, indent));
          expect(textAt(line, locate(line, [one, two])!)).toBe('"wanted"');
        },
      ),
    );
  });

  it("is an item of a list", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), spaces, (list, indent) => {
        const line = Buffer.from(JSON.stringify(list, null, indent));
        const items = itemsOf(line, 0).map((item) => JSON.parse(textAt(line, item)));
        expect(items).toEqual(JSON.parse(JSON.stringify(list)));
      }),
    );
  });

  it("is the last one of a name that is there twice, in whatever way it is written", () => {
    const line = Buffer.from('{"a":1,"\\u0061" : 2 }');
    expect(textAt(line, locate(line, ["a"])!)).toBe("2");
    expect(locate(line, ["b"])).toBeUndefined();
    expect(locate(line, ["a", "b"])).toBeUndefined();
  });

  it("is replaced without touching anything else", () => {
    const line = Buffer.from('{ "big": 12345678901234567890, "a" : "x","b":[ ] }');
    const edits = [
      { ...locate(line, ["b"])!, text: "[1]" },
      { ...locate(line, ["a"])!, text: '"yy"' },
    ];
    expect(withEdits(line, edits).toString()).toBe(
      '{ "big": 12345678901234567890, "a" : "yy","b":[1] }',
    );
  });
});
