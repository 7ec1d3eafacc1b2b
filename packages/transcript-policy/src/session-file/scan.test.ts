import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ObjectScan } from "./scan.ts";

const object = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value));
const spaced = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1, 2))
  .map(([value, spaces]) => JSON.stringify(value, null, spaces).replaceAll("\n", " "));

describe("a scan of an object", () => {
  it("is complete where the object ends, wherever it was torn", () => {
    fc.assert(
      fc.property(fc.oneof(object, spaced), fc.array(fc.nat()), (text, cuts) => {
        const bytes = Buffer.from(text);
        const places = [...cuts.map((cut) => cut % bytes.length), bytes.length].sort(
          (a, b) => a - b,
        );
        const scan = new ObjectScan();
        let from = 0;
        for (const to of places) {
          const piece = bytes.subarray(from, to);
          const isLast = to === bytes.length;
          expect(scan.feed(piece)).toEqual(
            isLast && piece.length > 0 ? { kind: "complete", end: piece.length } : { kind: "open" },
          );
          from = to;
          if (isLast) break;
        }
      }),
    );
  });

  it("stops at the first byte that cannot be there", () => {
    const stops = (text: string) => new ObjectScan().feed(Buffer.from(text));
    expect(stops('{"a":1}x')).toEqual({ kind: "complete", end: 7 });
    expect(stops('{"a" 1}')).toEqual({ kind: "stopped", at: 5 });
    expect(stops('{"a":[1}')).toEqual({ kind: "stopped", at: 7 });
    expect(stops('{"a":"\u0001"}')).toEqual({ kind: "stopped", at: 6 });
    expect(stops('{"a":"\\x"}')).toEqual({ kind: "stopped", at: 7 });
    expect(stops('{"a":1,}')).toEqual({ kind: "stopped", at: 7 });
    expect(stops("{a:1}")).toEqual({ kind: "stopped", at: 1 });
  });

  it("names the object that ended last where it stopped", () => {
    const scan = new ObjectScan();
    expect(scan.feed(Buffer.from('{"a":{"b":1} {'))).toEqual({ kind: "stopped", at: 13 });
    expect(scan.closed).toEqual({ start: 5, end: 12, depth: 1 });
  });
});
