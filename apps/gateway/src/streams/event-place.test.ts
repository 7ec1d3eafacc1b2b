import fc from "fast-check";
import { expect, it } from "vitest";
import { formatPlace, hasHeardEnd, parsePlace } from "./event-place.ts";

it("comes back from its id as it was, whatever its entry is called, in one line of ASCII", () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[0-9a-f]{1,12}$/),
      fc.oneof(fc.nat(), fc.constant(Number.POSITIVE_INFINITY)),
      fc.option(fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 })),
      (ring, number, entryId) => {
        const id = formatPlace({ ring, number, entryId });
        expect(id).toMatch(/^[!-~]+$/);
        expect(parsePlace(id)).toEqual({ ring, number, entryId });
        expect(hasHeardEnd(parsePlace(id)!)).toBe(number === Number.POSITIVE_INFINITY);
      },
    ),
  );
});

it.each(["", "1", "a.b.c", "066d1615.12", "a.1.%", "a.1.x y"])("is none: %j", (id) => {
  expect(parsePlace(id)).toBeUndefined();
});
