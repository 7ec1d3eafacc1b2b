import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planWater } from "./water.ts";

const budgets = fc.integer({ min: 1, max: 3_000_000 });
const settings = fc.record(
  {
    highWaterTokens: fc.integer({ min: 1, max: 3_000_000 }),
    lowWaterTokens: fc.integer({ min: 1, max: 3_000_000 }),
    costFirst: fc.boolean(),
  },
  { requiredKeys: [] },
);
const session = fc.record({ newestTokens: fc.nat(300_000), growthTokens: fc.nat(20_000) });

describe("the water marks", () => {
  it.each([
    // budget, high, low
    [16_000, 15_200, 5_250],
    [32_000, 30_400, 10_500],
    [48_000, 45_600, 15_250],
    [64_000, 60_800, 20_000],
    [96_000, 83_900, 22_250],
    [128_000, 107_000, 24_500],
    [512_000, 214_000, 49_000],
  ])("of a budget of %i tokens are %i and %i", (budget, high, low) => {
    expect(planWater({ budget })).toEqual({ high, low });
  });

  it("stay in order and inside the budget, whatever is asked for", () => {
    fc.assert(
      fc.property(budgets, settings, session, (budget, asked, now) => {
        const { high, low } = planWater({ budget, settings: asked, ...now });
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThan(high);
        expect(high).toBeLessThanOrEqual(Math.max(1, 0.95 * budget));
      }),
    );
  });

  it("rise with the budget", () => {
    fc.assert(
      fc.property(budgets, budgets, settings, session, (one, other, asked, now) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)].map((budget) =>
          planWater({ budget, settings: asked, ...now }),
        );
        expect(more!.high).toBeGreaterThanOrEqual(less!.high);
        expect(more!.low).toBeGreaterThanOrEqual(less!.low);
      }),
    );
  });

  it.each([
    // high, low
    [8_000, 2_763],
    [30_400, 10_500],
    [83_900, 22_250],
  ])("leave a step to go below a high one of %i that is set alone", (highWaterTokens, low) => {
    const marks = planWater({ budget: 128_000, settings: { highWaterTokens } });
    expect(marks).toEqual({ high: highWaterTokens, low });
  });

  it("leave a step to go where the low one that is set is not below the high one", () => {
    const low = { lowWaterTokens: 31_000 };
    const { high } = planWater({ budget: 32_000 });
    expect(planWater({ budget: 32_000, settings: low })).toEqual(planWater({ budget: 32_000 }));
    const both = { ...low, highWaterTokens: 30_400 };
    expect(planWater({ budget: 32_000, settings: both })).toEqual({ high, low: 10_500 });
    // Where there is room for it, it holds.
    expect(planWater({ budget: 64_000, settings: low }).low).toBe(31_000);
  });

  it("never ask a compaction to cut the newest exchange, as long as that is below the high one", () => {
    fc.assert(
      fc.property(budgets, session, (budget, now) => {
        const { high, low } = planWater({ budget, ...now });
        if (now.newestTokens < high) expect(low).toBeGreaterThanOrEqual(now.newestTokens);
      }),
    );
  });

  it("are where calls cost least, by the session's growth, if the operator wants that", () => {
    const costFirst = { costFirst: true };
    const marks = (growthTokens: number) =>
      planWater({ budget: 128_000, settings: costFirst, growthTokens });
    expect(marks(300)).toEqual({ high: 24_771, low: 14_700 });
    expect(marks(1_600)).toEqual({ high: 37_958, low: 14_700 });
    // Nothing is known of a session that has just begun.
    expect(marks(0)).toEqual(planWater({ budget: 128_000 }));
  });
});
