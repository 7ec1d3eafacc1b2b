import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FateFilter } from "./fates.ts";
import { DOCK_TABS, NEWEST, type Opened, pathOfPlace, placeInPath } from "./place.ts";

const id = fc.tuple(fc.nat(999), fc.nat(99)).map(([turn, call]) => `${turn}.${call}`);
const filters = ["all", "shown", "left-out", "in:C 2/&?=#"] as const satisfies FateFilter[];

describe("a place in the address", () => {
  it("comes back as it went in", () => {
    const opened = fc.record({
      kind: fc.constantFrom<Opened["kind"]>("entry", "summary", "item"),
      id: fc.string(),
    });
    const places = fc.record({
      ...{
        call: fc.option(fc.oneof(id, fc.string({ minLength: 1 }))),
        from: fc.option(id),
        opened: fc.option(opened),
      },
      filter: fc.constantFrom<FateFilter>(...filters),
      tab: fc.constantFrom(...DOCK_TABS),
      metric: fc.constantFrom("tokens" as const, "cost" as const, "cache" as const),
    });
    fc.assert(
      fc.property(places, (place) => {
        expect(placeInPath(pathOfPlace(place))).toEqual(place);
      }),
    );
  });

  it("is short", () => {
    expect(pathOfPlace(NEWEST)).toBe("calls");
    expect(
      pathOfPlace({
        ...{ ...NEWEST, call: "58.3", from: "57.1", filter: "cleared", tab: "shadow" },
        opened: { kind: "entry", id: "1f2e" },
      }),
    ).toBe("calls/58.3?from=57.1&fate=cleared&entry=1f2e&show=shadow");
  });

  it("is read as far as it can be", () => {
    expect(placeInPath("chat")).toBeNull();
    expect(placeInPath("calls?fate=z&show=q&by=w&other=1")).toEqual(NEWEST);
    // What names no call is kept, so that it can be said that there is none.
    expect(placeInPath("calls/abc?from=x")).toEqual({ ...NEWEST, call: "abc", from: "x" });
  });
});
