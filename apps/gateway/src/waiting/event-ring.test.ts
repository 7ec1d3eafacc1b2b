import { expect, it } from "vitest";
import { createEventRing } from "./event-ring.ts";

it("tells what was told of a turn, pieces of a reply as one", () => {
  const ring = createEventRing();
  ring.add({ type: "accepted", entryId: "1" });
  ring.add({ type: "thinking", delta: "Hm." });
  for (const delta of ["Good ", "day."]) ring.add({ type: "text", delta });
  expect(ring.events()).toEqual([
    { type: "accepted", entryId: "1" },
    { type: "thinking", delta: "Hm." },
    { type: "text", delta: "Good day." },
  ]);
});

it("tells nothing of a reply that is too long, rather than a part of it", () => {
  const ring = createEventRing(5);
  ring.add({ type: "accepted", entryId: "1" });
  for (const delta of ["Good ", "day.", "More."]) ring.add({ type: "text", delta });
  expect(ring.events()).toEqual([{ type: "accepted", entryId: "1" }]);
});
