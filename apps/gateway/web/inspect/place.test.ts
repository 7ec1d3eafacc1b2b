import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FateFilter } from "./fates.ts";
import { DOCK_TABS, NEWEST, nameInWords, type Opened, pathOfPlace, placeInPath } from "./place.ts";

const id = fc.tuple(fc.nat(999), fc.nat(99)).map(([turn, call]) => `${turn}.${call}`);
const nonsense = fc.string({ minLength: 1 }).filter((text) => nameInWords(text) === text);
const filters = ["all", "shown", "left-out", "in:C 2/&?=#"] as const satisfies FateFilter[];

describe("a place in the address", () => {
  it("comes back as it went in", () => {
    const opened = fc.record({
      kind: fc.constantFrom<Opened["kind"]>("entry", "summary", "item"),
      id: fc.string(),
    });
    const places = fc.record({
      ...{
        call: fc.option(fc.oneof(id, nonsense)),
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

  it("names a call, or a turn, as people say it", () => {
    const call = (path: string) => placeInPath(path)?.call;
    expect([call("calls/58.3"), call("calls/t58c3"), call("calls/t58%20c3")]).toEqual([
      ...["58.3", "58.3", "58.3"],
    ]);
    expect([call("calls/t58"), call("calls/58"), call("calls/turn%2058")]).toEqual([
      ...["t58", "t58", "t58"],
    ]);
    expect(placeInPath("calls/58.3?from=t57c1")?.from).toBe("57.1");
  });

  it("is read as far as it can be", () => {
    expect(placeInPath("chat")).toBeNull();
    expect(placeInPath("calls?fate=z&show=q&by=w&other=1")).toEqual(NEWEST);
    // What names no call is kept, so that it can be said that there is none.
    expect(placeInPath("calls/abc?from=x")).toEqual({ ...NEWEST, call: "abc", from: "x" });
  });
});
