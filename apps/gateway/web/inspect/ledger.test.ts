import { describe, expect, it } from "vitest";
import type { Usage } from "../../src/costs/usage.ts";
import { callRow, dollars } from "../testing/calls.ts";
import { planLedger } from "./ledger.ts";

const cache = (read: number) => ({ predicted: 0, read, written: 0, broke: null });

const none = { calls: 0, tokens: 0, dollars: 0 };
const noTokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

function usage(given: Partial<Usage["total"]>): Pick<Usage, "total"> {
  return {
    total: {
      ...{
        calls: 0,
        failed: 0,
        sideCalls: 0,
        unknown: 0,
        estimated: 0,
        tokens: noTokens,
        sideTokens: noTokens,
      },
      ...{ cost: dollars(0), waste: { brokenPrefix: none, resent: none, overFull: none } },
      ...given,
    },
  };
}

describe("the ledger", () => {
  it("adds up a call and its turn, and tells the session as the gateway counts it", () => {
    const rows = [
      callRow("1.1", { tokens: 100, cost: dollars(0.5), cache: cache(0) }),
      callRow("2.1", { tokens: 200, cost: dollars(0.25), cache: cache(150) }),
      callRow("2.2", {
        tokens: 300,
        waste: [{ cause: "broken-prefix", tokens: 9, dollars: 0.05 }],
      }),
      callRow("2.3", { tokens: 900, isCounted: false, error: "too large", cost: dollars(0) }),
    ];
    const all = usage({
      ...{ calls: 4, sideCalls: 1, unknown: 1, estimated: 0 },
      tokens: { input: 300, cacheRead: 400, cacheWrite: 100, output: 30 },
      cost: { ...dollars(0.75), summariser: 0.05, total: 0.8 },
      waste: {
        ...{ resent: none, overFull: none },
        brokenPrefix: { calls: 2, tokens: 9, dollars: 0.1 },
      },
    });
    expect(planLedger(rows[1]!, rows, all)).toEqual([
      { label: "calls", call: "1", turn: "3", session: "4" },
      { label: "sent", call: "200", turn: "500", session: "800" },
      { label: "written", call: "10", turn: "30", session: "30" },
      { label: "from cache", call: "75 %", turn: "75 %", session: "50 %" },
      {
        label: "cost",
        call: "$0.2500",
        turn: "$0.2500 + 1 unpriced",
        session: "$0.8000 + 1 unpriced",
      },
      { label: "of it summaries", call: "", turn: "", session: "$0.0500 in 1 call" },
      { label: "of it lost caches", call: "", turn: "$0.0500", session: "$0.1000 in 2 calls" },
    ]);
  });

  it("says what it does not know", () => {
    const row = callRow("1.1");
    const [, , , read, cost] = planLedger(row, [row], usage({ calls: 1, unknown: 1 }));
    expect([read?.session, cost?.session]).toEqual(["not told", "not known"]);
    expect(planLedger(row, [row], null).map(({ session }) => session)).toEqual(
      new Array(5).fill("…"),
    );
  });
});
