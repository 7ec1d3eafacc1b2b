import { describe, expect, it } from "vitest";
import { planRanges } from "../../src/inspect/found-ranges.ts";
import { entryRow } from "../testing/calls.ts";
import { describeFound } from "./found.ts";

const NOBODY = {
  unseenIn: [],
  ...{ text: "x", entries: [], matching: 0, left: [], next: null },
  ...{ letGoTurns: 0, summaries: [] },
};

describe("a text that was looked for", () => {
  it("is said, shown and named in so many places", () => {
    expect(
      describeFound({
        ...{ text: "KEY-4711", entries: [entryRow(3)], matching: 1_240, next: 3, calls: 642 },
        ...{ letGoTurns: 40, left: [], unseenIn: [] },
        shownIn: [{ from: "1.1", to: "50.2", calls: 610 }],
        ...{ lost: [{ id: "50.3", to: "50.3", calls: 1, why: "in summary C2" }] },
        summaries: [
          { summaryId: "C1", says: true },
          { summaryId: "C2", says: false },
        ],
      }),
    ).toBe(
      "Said in 1,240 entries; shown in 610 of 642 calls; in 1 of 2 summaries. Nobody can tell of calls before: turns 1–40 were let go (gateway.limits.reportBytes).",
    );
    expect(describeFound({ ...NOBODY, shownIn: [], lost: [], calls: 1 })).toBe(
      "Nobody said it; shown in 0 of 1 call.",
    );
    const { number: _none, fate: _fate, marks: _marks, ...row } = entryRow(3);
    const left = [{ ...row, why: "taken back with /undo" }];
    expect(describeFound({ ...NOBODY, left, shownIn: [], lost: [], calls: 1 })).toBe(
      "Not said on the branch of the session; in 1 entry that left it; shown in 0 of 1 call.",
    );
  });

  it("is not said to be shown where a program holds it and nobody here knows", () => {
    const shownIn = [{ from: "1.1", to: "1.1", calls: 1 }];
    const unseenIn = [{ from: "2.1", to: "4.1", calls: 3, why: "entry 1 is elsewhere" }];
    const found = { ...NOBODY, shownIn, unseenIn, lost: [], calls: 4 };
    expect(planRanges(found)).toEqual([
      {
        ...{ from: "1.1", to: "1.1" },
        gone: {
          ...{ id: "2.1", to: "4.1", calls: 3 },
          why: "nobody here can tell: entry 1 is elsewhere",
        },
        isUnseen: true,
      },
    ]);
    expect(describeFound(found)).toContain("of 3 nobody here can tell");
  });

  it("is followed from each range of calls to what ended it", () => {
    const shownIn = [
      { from: "1.1", to: "2.3", calls: 5 },
      { from: "9.1", to: "9.2", calls: 2 },
    ];
    const lost = [{ id: "2.4", to: "2.4", calls: 1, why: "compaction" }];
    const found = { ...NOBODY, shownIn, lost, calls: 20 };
    expect(planRanges(found)).toEqual([
      { from: "1.1", to: "2.3", gone: lost[0], isUnseen: false },
      { from: "9.1", to: "9.2", gone: null, isUnseen: false },
    ]);
  });
});
