import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fixedTokensOf, planBudget, promptTokensOf, reserveOf } from "./budget.ts";
import { estimateText } from "./tokens/estimate.ts";

describe("the reserve", () => {
  it.each([
    // window, configured, reserve: as configured, at most a quarter of the window
    [200_000, 20_000, 20_000],
    [200_000, 0, 0],
    [200_000, 4_000, 4_000],
    [200_000, 30_000, 30_000],
    [200_000, 90_000, 50_000],
    [64_000, 20_000, 16_000],
    [32_768, 20_000, 8_192],
    [1_000, 20_000, 250],
    [200_000, 1_234.9, 1_234],
    [200_000, -1, 0],
    [200_000, Number.NaN, 0],
    [200_000, Number.POSITIVE_INFINITY, 50_000],
  ])("window %i, configured %d: %i", (window, configured, reserve) => {
    expect(reserveOf(window, configured)).toBe(reserve);
  });
});

describe("the budget", () => {
  it("is what the reserve and 1.2 × the fixed tokens leave", () => {
    expect(
      planBudget({ contextWindow: 100_000, reserveTokens: 20_000, fixedTokens: 1_001 }),
    ).toEqual({
      contextWindow: 100_000,
      reserve: 20_000,
      promptBudget: 80_000,
      fixedTokens: 1_001,
      tokenBudget: 80_000 - 1_202,
    });
  });

  it("of a window that holds nothing is 1 token, so that nobody divides by zero", () => {
    expect(planBudget({ contextWindow: 0, reserveTokens: 0 })).toMatchObject({
      promptBudget: 1,
      tokenBudget: 1,
    });
  });

  it("always leaves an engine something, and never more than the prompt may hold", () => {
    fc.assert(
      fc.property(
        fc.nat(2_000_000),
        fc.double(),
        fc.nat(3_000_000),
        (contextWindow, reserveTokens, fixedTokens) => {
          const budget = planBudget({ contextWindow, reserveTokens, fixedTokens });
          expect(budget.tokenBudget).toBeGreaterThanOrEqual(1);
          expect(budget.tokenBudget).toBeLessThanOrEqual(budget.promptBudget);
          expect(budget.reserve).toBeGreaterThanOrEqual(0);
          expect(budget.reserve).toBeLessThanOrEqual(contextWindow / 4);
        },
      ),
    );
  });
});

describe("what a request carries", () => {
  it("the prompt's tokens are those read, cached or not", () => {
    expect(promptTokensOf({ input: 3, cacheRead: 40, cacheWrite: 500 })).toBe(543);
  });

  it("the fixed part is the system prompt and every tool's schema", () => {
    const tool = { name: "read", description: "Reads a file.", parameters: { type: "object" } };
    expect(fixedTokensOf([{ text: "You are" }, { text: "helpful." }], [tool])).toBe(
      estimateText("You are").estimate +
        estimateText("helpful.").estimate +
        estimateText(JSON.stringify(tool)).estimate,
    );
    expect(fixedTokensOf([], [])).toBe(0);
  });
});
