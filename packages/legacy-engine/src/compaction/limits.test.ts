import { describe, expect, it } from "vitest";
import { planLimits } from "./limits.ts";

describe("the room of a summary", () => {
  it.each([
    // window, reserve, reserve in force, summary: 0.8 × max(16,384, reserve), both at
    // most a quarter of the window
    [200_000, 20_000, 20_000, 16_000],
    [200_000, 30_000, 30_000, 24_000],
    [200_000, 4_000, 4_000, 13_107],
    [200_000, 0, 0, 13_107],
    [16_000, 0, 0, 3_200],
  ])("window %i, reserve %i", (contextWindow, reserveTokens, reserve, summaryTokens) => {
    const given = { contextWindow, reserveTokens, maxOutputTokens: 64_000, fixedTokens: 0 };
    expect(planLimits(given)).toMatchObject({
      reserve,
      promptBudget: contextWindow - reserve,
      summaryTokens,
    });
  });
});

describe("the limits of one compaction", () => {
  const input = {
    contextWindow: 128_000,
    maxOutputTokens: 64_000,
    reserveTokens: 20_000,
    fixedTokens: 0,
  };

  it.each([
    // summary min(0.8 × reserve, model), prefix min(0.5 × reserve, model),
    // at most 16,000 characters and a twelfth of the low mark
    [
      {},
      {
        summaryTokens: 16_000,
        summaryChars: 7_388,
        promptBudget: 108_000,
        recordRoom: { ledger: 4_500, anchors: 6_375, pins: 800 },
        tailTokens: 48_162,
      },
    ],
    [{ maxOutputTokens: 4_096 }, { summaryTokens: 4_096, summaryChars: 7_388 }],
    [
      { contextWindow: 16_000 },
      {
        reserve: 4_000,
        summaryTokens: 3_200,
        summaryChars: 2_400,
        recordRoom: { ledger: 1_414, anchors: 582, pins: 365 },
        tailTokens: 4_819,
      },
    ],
    [{ contextWindow: 0 }, { contextWindow: 200_000, promptBudget: 180_000 }],
    [{ contextWindow: Number.NaN }, { contextWindow: 200_000 }],
    [{ tokenBudget: 50_000 }, { promptBudget: 50_000, tailTokens: 20_791 }],
    [{ tokenBudget: 500_000 }, { promptBudget: 108_000 }],
    [{ fixedTokens: 100_000 }, { tailTokens: 4_000 }],
    [{ fixedTokens: 200_000 }, { recordRoom: { ledger: 0, anchors: 0, pins: 0 }, tailTokens: 0 }],
    [{ maxOutputTokens: 0 }, { summaryTokens: 16_000 }],
  ])("%o", (change, expected) => {
    expect(planLimits({ ...input, ...change })).toMatchObject(expected);
  });

  it("leave a record as much room in the model's tokens, however it counts", () => {
    const { recordRoom, keepTokens } = planLimits(input);
    const counted = planLimits({ ...input, tokenRatio: 1.8 });
    expect(counted.keepTokens).toBe(keepTokens);
    for (const part of ["ledger", "anchors", "pins"] as const)
      expect(1.8 * counted.recordRoom[part]).toBeCloseTo(recordRoom[part], -1);
    // What counts less is given no more: its estimates are not wrong in that direction.
    expect(planLimits({ ...input, tokenRatio: 0.7 }).recordRoom).toEqual(recordRoom);
  });
});
