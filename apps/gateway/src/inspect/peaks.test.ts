import { describe, expect, it } from "vitest";
import { callRow, dollars } from "../../web/testing/calls.ts";
import { describePeaks, planPeaks } from "./peaks.ts";

describe("the dearest and the fullest call", () => {
  it("are those of the greatest cost and of the greatest share of a budget, the first of equals", () => {
    const rows = [
      callRow("1.1", { tokens: 400, cost: dollars(0.2) }),
      callRow("1.2", { tokens: 90, promptBudget: 100, cost: dollars(0.5) }),
      callRow("2.1", { tokens: 900, cost: dollars(0.5) }),
    ];
    expect(planPeaks(rows)).toEqual({
      dearest: { id: "1.2", dollars: 0.5 },
      fullest: { id: "1.2", tokens: 90, promptBudget: 100 },
    });
  });

  it("leave aside what was paid for side calls before a call", () => {
    const afterSummary = { ...dollars(0.3), summariser: 16, total: 16.3 };
    const rows = [callRow("1.1", { cost: dollars(0.4) }), callRow("2.1", { cost: afterSummary })];
    expect(planPeaks(rows).dearest).toEqual({ id: "1.1", dollars: 0.4 });
  });

  it("are none where no price and no budget is known, and nobody can tell what was sent", () => {
    const lost = callRow("2.1", { lost: "A report is damaged.", tokens: 9 });
    const rows = [callRow("1.1", { promptBudget: null, tokens: 9000 }), lost];
    expect(planPeaks(rows)).toEqual({ dearest: null, fullest: null });
    expect(describePeaks(planPeaks(rows))).toEqual([]);
  });

  it("are told with their figures, and a call below its budget never fills it", () => {
    const told = (tokens: number) =>
      describePeaks({ dearest: null, fullest: { id: "3.1", tokens, promptBudget: 1000 } });
    expect(told(960)).toEqual(["The fullest call is 3.1: 960 of 1,000 tokens, 96 %."]);
    expect(told(999)[0]).toContain("just under 100 %");
    expect(told(1001)[0]).toContain("just over 100 %");
    expect(told(1000)[0]).toContain(", 100 %");
    expect(describePeaks({ dearest: { id: "2.1", dollars: 0.0641 }, fullest: null })).toEqual([
      "The dearest call is 2.1: $0.064.",
    ]);
  });
});
