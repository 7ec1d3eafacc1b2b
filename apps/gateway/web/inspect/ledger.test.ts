import { describe, expect, it } from "vitest";
import type { Usage } from "../../src/costs/usage.ts";
import { callRow, dollars } from "../testing/calls.ts";
import { familyHeading, planLedger, usageOf } from "./ledger.ts";

const cache = (read: number) => ({ predicted: 0, read, written: 0, broke: null });

const none = { calls: 0, tokens: 0, dollars: 0 };
const KEY = "agent:main:main";
const sums = { calls: 4, turns: 2, sent: 600 };
const noTokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

function usage(
  given: Partial<Usage["total"]>,
): Pick<Usage, "total" | "sessions" | "untold" | "unpaid"> {
  return {
    sessions: [],
    untold: { turns: 0, lines: 0, sessions: 0 },
    unpaid: null,
    total: {
      ...{
        modelCalls: 0,
        failed: 0,
        sideCalls: 0,
        unknown: 0,
        estimated: 0,
        unended: 0,
        tokens: noTokens,
        sideTokens: noTokens,
      },
      ...{
        cost: dollars(0),
        waste: { brokenPrefix: none, afterPause: none, resent: none, overFull: none },
      },
      ...given,
    },
  };
}

describe("the ledger", () => {
  it("adds up a call and its turn, and tells the session as the gateway counts it", () => {
    const withSides = { ...dollars(0.2), summariser: 0.05, total: 0.25 };
    const rows = [
      callRow("1.1", { tokens: 100, cost: dollars(0.5), cache: cache(0) }),
      callRow("2.1", { tokens: 200, cost: withSides, cache: cache(150) }),
      callRow("2.2", {
        tokens: 300,
        waste: [{ cause: "broken-prefix", tokens: 9, dollars: 0.05 }],
      }),
      callRow("2.3", { tokens: 900, isCounted: false, error: "too large", cost: dollars(0) }),
    ];
    const all = usage({
      ...{ modelCalls: 5, sideCalls: 1, unknown: 1, estimated: 0 },
      tokens: { input: 300, cacheRead: 400, cacheWrite: 100, output: 30 },
      cost: { ...dollars(0.75), summariser: 0.05, total: 0.8 },
      waste: {
        ...{ afterPause: none, resent: none, overFull: none },
        brokenPrefix: { calls: 2, tokens: 9, dollars: 0.1 },
      },
    });
    expect(planLedger(rows[1]!, rows, { key: KEY, usage: all, sums })).toEqual([
      // Side calls are model calls, too, and neither counted nor sent with the first two.
      { label: "calls", call: "1", turn: "3", session: "4", family: "" },
      { label: "sent", call: "200", turn: "500", session: "600", family: "" },
      { label: "model calls", call: "", turn: "", session: "5", family: "" },
      { label: "prompt tokens", call: "", turn: "", session: "800", family: "" },
      { label: "output", call: "10", turn: "30", session: "30", family: "" },
      { label: "from cache", call: "75 %", turn: "75 %", session: "50 %", family: "" },
      {
        ...{ label: "cost", call: "$0.2500", turn: "$0.2500 + 1 unpriced" },
        ...{ session: "$0.8000 + 1 unpriced", family: "" },
      },
      {
        ...{ label: "of it side calls", call: "$0.0500", turn: "$0.0500" },
        ...{ session: "$0.0500 in 1 call", family: "" },
      },
      {
        ...{ label: "paid again, cache lost", call: "", turn: "$0.0500" },
        ...{ session: "$0.1000 in 2 calls", family: "" },
      },
    ]);
  });

  it("tells a session's own figures apart from those with its subagents", () => {
    const row = callRow("1.1");
    const sumOf = (modelCalls: number, total: number) => ({
      ...usage({ modelCalls, sideCalls: 1, cost: { ...dollars(total), summariser: 0.25 } }).total,
    });
    const [own, first, second] = [sumOf(2, 0.5), sumOf(3, 1), sumOf(1, 0.5)];
    const all = {
      ...usage({ modelCalls: 6, sideCalls: 3, cost: { ...dollars(2), summariser: 0.75 } }),
      sessions: [
        { name: "agent:main:subagent:1", ...first },
        { name: KEY, ...own },
        { name: "agent:main:subagent:2", ...second },
      ],
    };
    expect(familyHeading(usageOf(all, KEY))).toBe("with 2 subagents");
    expect(usageOf(all, "main")).toEqual(usageOf(all, KEY));
    const lines = planLedger(row, [row], { key: KEY, usage: all, sums });
    expect(lines.map(({ label, session, family }) => [label, session, family])).toEqual([
      ["calls", "4", ""],
      ["sent", "600", ""],
      ["model calls", "2", "6"],
      ["prompt tokens", "0", "0"],
      ["output", "0", "0"],
      ["from cache", "not told", "not told"],
      ["cost", "$0.5000", "$2.00"],
      ["of it side calls", "$0.2500 in 1 call", "$0.7500 in 3 calls"],
    ]);
  });

  it("says of the demo that nobody paid for it", () => {
    const row = callRow("1.1", { cost: dollars(0.5) });
    const lines = planLedger(row, [row], {
      usage: { ...usage({ modelCalls: 1, cost: dollars(0.5) }), unpaid: "demo" },
      ...{ key: KEY, sums },
    });
    expect(lines.map(({ label }) => label)).toContain("cost, not paid");
  });

  it("of a session that cannot be told whole says at least", () => {
    const row = callRow("1.1");
    const known = usage({ modelCalls: 1, cost: dollars(0.5) });
    const lines = planLedger(row, [row], {
      usage: { ...known, untold: { turns: 2, lines: 0, sessions: 0 } },
      ...{ key: KEY, sums },
    });
    expect(lines.find(({ label }) => label === "cost")!.session).toBe(
      "at least $0.5000 (2 cannot be told)",
    );
  });

  it("tells what was paid again because the cache had forgotten it after a pause", () => {
    const waste = [{ cause: "after-pause" as const, tokens: 300, dollars: 0.02 }];
    const rows = [callRow("1.1"), callRow("2.1", { waste }), callRow("2.2")];
    const all = usage({
      waste: {
        ...{ brokenPrefix: none, resent: none, overFull: none },
        afterPause: { calls: 1, tokens: 300, dollars: 0.02 },
      },
    });
    const lineOf = (row: number) =>
      planLedger(rows[row]!, rows, { key: KEY, usage: all, sums }).find(({ label }) =>
        label.includes("pause"),
      );
    const told = { label: "paid again after a pause", session: "$0.0200 in 1 call", family: "" };
    expect(lineOf(1)).toEqual({ ...told, call: "$0.0200", turn: "$0.0200" });
    expect(lineOf(0)).toEqual({ ...told, call: "", turn: "" });
  });

  it("says what it does not know", () => {
    const row = callRow("1.1");
    const [, , , , , read, cost] = planLedger(row, [row], {
      usage: usage({ modelCalls: 1, unknown: 1 }),
      ...{ key: KEY, sums },
    });
    expect([read?.session, cost?.session]).toEqual(["not told", "not known"]);
    expect(
      planLedger(row, [row], { key: KEY, usage: null, sums }).map(({ session }) => session),
    ).toEqual(["4", "600", "…", "…", "…", "…", "…"]);
  });
});
