import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callRow, dollars } from "../testing/calls.ts";
import { BANDS } from "./sources.ts";
import { describePlace, describePointed, planTimeline } from "./timeline.ts";

const cache = (read: number | null) => ({ predicted: 0, read, written: null, broke: null });

describe("the timeline", () => {
  it("stacks sources one over the other; the highest curve is the whole request", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(9999), { minLength: 7, maxLength: 7 })), (heights) => {
        const rows = heights.map(([a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0], index) =>
          callRow(`${index + 1}.1`, {
            tokens: {
              ...{ system: a, tools: b, summaries: c, notes: d },
              ...{ messages: e, replies: f, toolOutput: g },
            },
          }),
        );
        const { curves } = planTimeline(rows, "tokens");
        rows.forEach((row, place) => {
          const column = curves.map(({ heights: curve }) => curve[place] ?? 0);
          expect(column[0]).toBe(row.tokens.total);
          expect(column).toEqual([...column].sort((one, other) => other - one));
          expect(column.at(-1)).toBe(row.tokens.system);
        });
      }),
    );
  });

  it("names every source once, the highest first", () => {
    const { curves } = planTimeline([callRow("1.1")], "tokens");
    expect(curves.map(({ label }) => label)).toEqual(
      BANDS.tokens.map(({ label }) => label).reverse(),
    );
  });

  it("has a gap where a cost or a cache is not known, never a zero", () => {
    const rows = [callRow("1.1", { cost: dollars(0.5) }), callRow("1.2", { cache: cache(40) })];
    expect(planTimeline(rows, "cost").curves[0]?.heights).toEqual([0.5, null]);
    expect(planTimeline(rows, "cache").curves.map(({ heights }) => heights)).toEqual([
      [null, 100],
      [null, 40],
    ]);
  });

  it("says what happened where", () => {
    const rows = [
      callRow("1.1"),
      callRow("1.2", { marks: ["prune"] }),
      callRow("2.1", { marks: ["compaction", "cache-broken"], promptBudget: null }),
    ];
    const { marks, budget } = planTimeline(rows, "tokens");
    expect(marks).toEqual([
      { place: 1, mark: "prune" },
      { place: 2, mark: "compaction" },
      { place: 2, mark: "cache-broken" },
    ]);
    expect(budget).toEqual([1000, 1000, null]);
    expect(planTimeline(rows, "cost").budget).toEqual([null, null, null]);
  });

  it("tells who points at a call its number, its sources, its cost and its marks", () => {
    const row = callRow("58.1", {
      ...{ tokens: { system: 10, summaries: 90 }, cost: dollars(0.5), cache: cache(50) },
      ...{ marks: ["compaction"], startedAt: "2026-11-27T10:03:00.000Z" },
    });
    expect(describePointed(row)).toEqual([
      ...["Call 58.1, 2026-11-27 10:03 UTC", "100 of 1,000 tokens", "System 10", "Summaries 90"],
      ...["Cost $0.5000", "50 % from cache", "▼ compaction"],
    ]);
  });

  it("tells a call as a sentence", () => {
    const row = callRow("58.1", { tokens: 24_110, marks: ["compaction"], cache: cache(2411) });
    expect(describePlace(row, "tokens")).toBe("call 58.1: 24,110 tokens, compaction");
    expect(describePlace(row, "cost")).toBe("call 58.1: cost not known, compaction");
    expect(describePlace(row, "cache")).toBe("call 58.1: 10 % from cache, compaction");
    expect(describePlace(undefined, "cost")).toBe("no call");
  });
});
