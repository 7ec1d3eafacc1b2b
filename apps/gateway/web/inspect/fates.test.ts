import { describe, expect, it } from "vitest";
import { entryRow } from "../testing/calls.ts";
import { describeFate, describeMark, describeMissing, filterChoices } from "./fates.ts";

const counts = {
  all: 10,
  shown: 4,
  summary: 3,
  cleared: 2,
  leftOut: 1,
  unseen: 0,
  shortened: 1,
  changed: 0,
};

describe("the fate of an entry", () => {
  it("says who removed it and how to get it back, unless it is there", () => {
    const words = (fate: ReturnType<typeof entryRow>["fate"]) =>
      describeFate(entryRow(3, { fate }), "main");
    expect(words({ kind: "shown" }).back).toBeNull();
    expect(words({ kind: "summary", summaryId: "C2" })).toMatchObject({
      label: "in summary",
      why: "Summary C2 stands in its place.",
      back: expect.stringContaining("“clew inspect main --entry 3”"),
    });
    expect(words({ kind: "cleared", rule: "old tool output" }).why).toBe(
      "The rule old tool output put a placeholder in its place.",
    );
    expect(words({ kind: "left-out", by: "person", why: "reset" })).toMatchObject({
      label: "left out by a person",
      why: "Left out by a person: reset.",
    });
    expect(words({ kind: "left-out", by: "engine", why: "no reason." }).why).toBe(
      "Left out by the engine: no reason.",
    );
  });

  it("is counted: the four add up to all", () => {
    const number = (filter: string) =>
      filterChoices(counts).find((choice) => choice.filter === filter)?.count ?? 0;
    expect(number("shown") + number("summary") + number("cleared") + number("left-out")).toBe(
      number("all"),
    );
    expect(describeMissing(counts)).toBe(
      "6 of 10 entries not shown: 3 in a summary, 2 cleared, 1 left out.",
    );
    expect(describeMissing({ ...counts, all: 4, summary: 0, cleared: 0, leftOut: 0 })).toBe(
      "All 4 entries are shown.",
    );
  });

  it("has marks with sizes", () => {
    expect(describeMark({ kind: "shortened", from: 12_800, to: 4096, rule: "long output" })).toBe(
      "✂ 4,096 of 12,800 tokens (long output)",
    );
    const ids = [{ from: "call_7", to: "call7" }];
    expect(describeMark({ kind: "changed", rule: "tool-call-ids", ids })).toBe(
      "~ changed (tool-call-ids): id call_7 → call7",
    );
    expect(describeMark({ kind: "changed", rule: "pair-tool-results" })).toBe(
      "~ changed (pair-tool-results)",
    );
  });
});
