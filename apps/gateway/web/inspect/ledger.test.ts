import { describe, expect, it } from "vitest";
import { callRow, dollars } from "../testing/calls.ts";
import { planLedger } from "./ledger.ts";

const cache = (read: number) => ({ predicted: 0, read, written: 0, broke: null });

describe("the ledger", () => {
  it("adds up a call, its turn and the session", () => {
    const rows = [
      callRow("1.1", { tokens: 100, cost: dollars(0.5), cache: cache(0) }),
      callRow("2.1", { tokens: 200, cost: dollars(0.25), cache: cache(150) }),
      callRow("2.2", { tokens: 300 }),
    ];
    expect(planLedger(rows[1]!, rows)).toEqual([
      { label: "calls", call: "1", turn: "2", session: "3" },
      { label: "sent", call: "200", turn: "500", session: "600" },
      { label: "written", call: "10", turn: "20", session: "30" },
      { label: "from cache", call: "75 %", turn: "75 %", session: "50 %" },
      {
        label: "cost",
        call: "$0.2500",
        turn: "$0.2500 + 1 unpriced",
        session: "$0.7500 + 1 unpriced",
      },
    ]);
  });

  it("says what it does not know", () => {
    const row = callRow("1.1");
    const [, , , read, cost] = planLedger(row, [row]);
    expect([read?.session, cost?.session]).toEqual(["not told", "not known"]);
  });
});
