import { describe, expect, it } from "vitest";
import { describeCosts, ofCapText } from "./describe.ts";
import { countLine, noTotals } from "./totals.ts";

describe("what a session cost until now", () => {
  it("is one figure beside its cap, which is told as reached only where it is", () => {
    const of = (spent: number, cap: number) => ofCapText(spent, cap);
    expect([of(0.496, 50), of(0.886, 0.5)]).toEqual(["$0.50", "$0.89"]);
    expect([of(0.4999, 0.5), of(0.5, 0.5)]).toEqual(["$0.49", "$0.50"]);
  });

  it("tells what of it was for nothing, by cause", () => {
    const totals = noTotals();
    const who = {
      ...{ v: 1 as const, at: "2026-03-05T12:00:00.000Z", agent: "main", engine: "legacy" },
      ...{ session: "s", root: "s", model: "p/m" },
    };
    countLine(totals, "2026-03-05", {
      ...{ ...who, kind: "call", for: "reply", plugin: null, failure: null },
      ...{ input: 500, cacheRead: 500, cacheWrite: 0, output: 1 },
      cost: { input: 2, cacheRead: 0, cacheWrite: 0, output: 0, summariser: 0, total: 2 },
    });
    const wasted = { ...who, kind: "waste" as const, calls: 1, tokens: 1000 };
    countLine(totals, "2026-03-05", { ...wasted, cause: "after-pause", dollars: 0.25 });
    countLine(totals, "2026-03-05", { ...wasted, cause: "broken-prefix", dollars: 0.5 });
    expect(describeCosts(totals.sessions.s!, [])).toBe(
      "$2.00 for 1 model call of this session, 50 % of the prompts from a cache; for nothing $0.50 (cache lost), $0.25 (after a pause)",
    );
  });
});
