import { describe, expect, it } from "vitest";
import { markersIn, spareMarker } from "./markers.ts";

const SHORT = { type: "ephemeral" };
const LONG = { type: "ephemeral", ttl: "1h" };
const of = (count: number) => Array.from({ length: count }, () => SHORT);

describe("a cache marker of our own", () => {
  it("is set while its client left one to spare, and never is one more than there may be", () => {
    expect(spareMarker({ most: 4, before: of(1), behind: of(2) })).toEqual(SHORT);
    for (const [before, behind] of [
      [2, 2],
      [0, 4],
      [4, 0],
      [3, 2],
    ] as const)
      expect(spareMarker({ most: 4, before: of(before), behind: of(behind) })).toBeUndefined();
  });

  it("is not set where its client marks nothing", () => {
    expect(spareMarker({ most: 4, before: [], behind: [] })).toBeUndefined();
  });

  it("lives no shorter than the next one behind it, and as long as the last before it else", () => {
    expect(spareMarker({ most: 4, before: [LONG], behind: [SHORT] })).toEqual(SHORT);
    expect(spareMarker({ most: 4, before: [LONG], behind: [LONG, SHORT] })).toEqual(LONG);
    expect(spareMarker({ most: 4, before: [SHORT, LONG], behind: [] })).toEqual(LONG);
  });
});

it("markers are found at any depth", () => {
  const body = {
    system: [{ type: "text", cache_control: SHORT }],
    messages: [{ content: [{ type: "tool_result", content: [{ cache_control: LONG }] }] }],
    cache_control: null,
  };
  expect(markersIn(body)).toEqual([SHORT, LONG]);
});
