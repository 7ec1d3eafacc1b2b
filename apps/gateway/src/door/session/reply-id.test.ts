// Reads ids of replies that were written, and those that were not.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { placeOfReply, replyId } from "./reply-id.ts";

describe("the id of a reply", () => {
  it("leads back to its place, with the prefix of its wire or without", () => {
    const places = fc.record({
      key: fc.string({ unit: "grapheme" }).filter((key) => key.isWellFormed()),
      entryId: fc.string(),
      answer: fc.nat(),
    });
    fc.assert(
      fc.property(places, (place) => {
        const id = replyId(place);
        expect(id).toMatch(/^[\w-]+$/);
        expect(placeOfReply(id)).toEqual(place);
        expect(placeOfReply(`resp_${id}`)).toEqual(place);
      }),
    );
  });

  it.each(["", "resp_0123456789abcdef", "resp_clew", "resp_clewe30", "resp_clew!", "clewbnVsbA"])(
    "is Clew's or another's: %s",
    (id) => {
      expect(placeOfReply(id)).toBeUndefined();
    },
  );
});
