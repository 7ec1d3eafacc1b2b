import { describe, expect, it } from "vitest";
import type { WhatIf } from "../../src/lab/shapes.ts";
import { callRow, dollars, playedPoint } from "../testing/calls.ts";
import { describeWhatIf, planOver } from "./what-if.ts";

const point = (ofCall: string | null, total: number) => ({ ...playedPoint("1.1", total), ofCall });

const tokens = { total: 5000, median: 2500, max: 3000 };
const whatIf: WhatIf = {
  ...{ key: "agent:main:main", sessionId: "s", asked: { engine: "lossless" }, unpaid: null },
  asItWas: {
    ...{ engine: "legacy", model: "house/large", contextWindow: 64_000 },
    tokenRatio: 1,
    ...{ calls: 2, unanswered: 0, tokens, each: [] },
    ...{ cost: dollars(2), expected: 1.5 },
  },
  played: {
    engine: { asked: "lossless", ran: "lossless", degraded: null },
    ...{
      model: "house/large",
      contextWindow: 32_000,
      tokenRatio: 1,
      turns: 2,
      compactions: 1,
      callsNotMade: 0,
    },
    ...{ failures: [], durationMs: 5, points: [point("2.1", 1200), point("1.1", 400)] },
  },
};

describe("what would have been", () => {
  it("is laid over the session's own calls; what has no counterpart is a gap", () => {
    const rows = [callRow("1.1"), callRow("1.2"), callRow("2.1")];
    expect(planOver(rows, [...whatIf.played.points, point(null, 7)], "tokens")).toEqual([
      400,
      null,
      1200,
    ]);
    expect(planOver(rows, whatIf.played.points, "cost")).toEqual([0.5, null, 0.5]);
  });

  it("is told beside what was", () => {
    expect(describeWhatIf(whatIf)).toEqual([
      "lossless in a window of 32,000: 1,600 tokens, estimated, in 2 calls; it was 5,000 in 2.",
      "The largest call: 1,200 tokens; it was 3,000. 1 compaction that the host asked for, 1 call over budget.",
      "At most 2 entries of a call are not shown: at most 1 in summaries, 0 cleared, 1 left out.",
      "It would cost $1.00; as it was it would be $1.50 by the same reckoning: with a cache that gives what it can, and without summaries. The bill was $2.00.",
      "Of the names that replies go on to use, 75 % stood in the requests.",
    ]);
  });

  it("says that nobody paid for the demo", () => {
    expect(describeWhatIf({ ...whatIf, unpaid: "demo" })[3]).toMatch(
      /When they were made its calls came to \$2\.00\. Nothing of this was paid/,
    );
  });

  it("says what kept it from being tried", () => {
    const engine = { asked: "lossless", ran: "legacy", degraded: "no disk" };
    const failures = [{ turn: 3, reason: "too large" }];
    const played = { ...whatIf.played, engine, failures, callsNotMade: 2 };
    expect(describeWhatIf({ ...whatIf, played }).slice(-3)).toEqual([
      "lossless did not run: no disk; legacy answered.",
      "2 calls were not made: their turn had failed before.",
      "Turn 3 failed: too large",
    ]);
  });
});
