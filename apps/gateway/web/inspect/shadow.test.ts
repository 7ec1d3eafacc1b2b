import { describe, expect, it } from "vitest";
import type { ShadowView } from "../../src/gateway/session-views.ts";
import { playedPoint } from "../testing/calls.ts";
import { describeShadowed, planShadow } from "./shadow.ts";

const summary: ShadowView["summary"] = {
  ...{ engine: "lossless", turns: 1, calls: 2, dollars: { made: 0.5, shadow: 0.25 } },
  ...{ tokens: { made: 2000, shadow: 1500 }, engineMs: { made: 2, shadow: 3 } },
  evidence: { made: 3, shadow: 4, needed: 5 },
  troubles: { count: 0, last: null },
};

describe("a shadow engine", () => {
  it("stands beside the one that answers", () => {
    expect(planShadow(summary)).toEqual([
      { label: "tokens", made: "2,000", shadow: "1,500", difference: "−25 %" },
      { label: "tokens per call", made: "1,000", shadow: "750", difference: "−25 %" },
      {
        label: "cost with expected caches, without summaries",
        made: "$0.5000",
        shadow: "$0.2500",
        difference: "−50 %",
      },
      { label: "names in view", made: "3 of 5", shadow: "4 of 5", difference: "+33 %" },
      { label: "engine ms per call", made: "1.0", shadow: "1.5", difference: "+50 %" },
    ]);
    expect(planShadow({ ...summary, calls: 0 })).toEqual([]);
  });

  it("is told of the call shown, if it got to it", () => {
    const calls: ShadowView["calls"] = [
      { made: playedPoint("2.1", 1000), shadow: playedPoint("1.1", 400) },
      { made: playedPoint("2.2", 900), shadow: null },
    ];
    expect(describeShadowed({ summary, calls }, "2.1")).toBe(
      "Call 2.1: lossless would have sent 400 tokens where 1,000 were sent, with 2 of 4 entries (2) and 3 of 4 needed names (3).",
    );
    expect(describeShadowed({ summary, calls }, "2.2")).toBeNull();
    expect(describeShadowed({ summary, calls }, "9.9")).toBeNull();
  });
});
