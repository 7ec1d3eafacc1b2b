import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bucketOf,
  keysOf,
  LEAF_SPAN,
  placesInBucket,
  placesInLeaf,
  writeGroup,
  writeLeaf,
} from "./postings.ts";

const word = fc.constantFrom("config", "Ärger", "ſtraße", "ΟΔΟΣ", "𐐀𐐨𐐀", "日本語です", "TICKET-1");
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(word).map((words) => words.join(" ")),
);
const texts = fc.array(fc.option(text, { nil: undefined }), { maxLength: LEAF_SPAN });
const holding = (of: readonly (string | undefined)[], key: number) =>
  of.flatMap((each, place) => (each !== undefined && keysOf(each).includes(key) ? [place] : []));

describe("a leaf", () => {
  it("names the places that hold all keys of a text, newest first, and no others", () => {
    fc.assert(
      fc.property(texts, text, (held, asked) => {
        const keys = keysOf(asked);
        fc.pre(keys.length > 0);
        const leaf = writeLeaf(held);
        const expected = held.flatMap((each, place) => {
          const own = new Set(keysOf(each ?? ""));
          return keys.every((key) => own.has(key)) ? [place] : [];
        });
        expect(placesInLeaf(leaf, keys)).toEqual(expected.toReversed());
      }),
    );
  });

  it("knows a text in either case, and every part of it", () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (held, from, length) => {
        const part = held.slice(from % (held.length + 1)).slice(0, 3 + (length % 20));
        const own = new Set(keysOf(held));
        expect(keysOf(part).filter((key) => !own.has(key))).toEqual([]);
      }),
    );
    for (const [one, other] of [
      ["CONFIG", "config"],
      ["ΟΔΟΣ", "οδος"],
      ["STRASSE", "ſtraſſe"],
      ["𐐀𐐁𐐂", "𐐨𐐩𐐪"],
    ] as const)
      expect(keysOf(one)).toEqual(keysOf(other));
  });
});

describe("a group", () => {
  it("holds what its leaves hold, wherever they stand", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(texts, fc.nat(200)), { minLength: 1, maxLength: 6 }),
        (parts) => {
          let offset = 0;
          const held: (string | undefined)[] = [];
          const leaves = parts.map(([some, gap]) => {
            const placed = { leaf: writeLeaf(some), offset };
            for (const [place, each] of some.entries()) held[offset + place] = each;
            offset += LEAF_SPAN + gap;
            return placed;
          });
          const buckets = writeGroup(leaves);
          const keys = new Set(held.flatMap((each) => keysOf(each ?? "")));
          for (const key of keys)
            expect(placesInBucket(buckets.get(bucketOf(key))!, key)).toEqual(holding(held, key));
          const absent = [0, 1, 4_000, 77_777].filter((key) => !keys.has(key));
          for (const key of absent)
            expect(placesInBucket(buckets.get(bucketOf(key)) ?? new Uint8Array(), key)).toEqual([]);
        },
      ),
    );
  });
});
