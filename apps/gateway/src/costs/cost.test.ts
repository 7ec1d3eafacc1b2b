import { modelProfile } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { costOfCall } from "../inspect/cost.ts";
import { addCosts, costOf, NO_COST, withCost } from "./cost.ts";
import { FREE, type Prices, pricesOf } from "./prices.ts";

const prices: Prices = {
  ...{ input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWriteLong: 6 },
  isRecorded: false,
};
const usage = { input: 1_000, output: 200, cacheRead: 50_000, cacheWrite: 4_000 };
const counted = { ...usage, totalTokens: 55_200 };

describe("what tokens cost", () => {
  it("is each kind by its own price per million, cached tokens included", () => {
    expect(costOf(usage, prices)).toEqual({
      ...{ input: 0.003, cacheRead: 0.015, cacheWrite: 0.015, output: 0.003 },
      ...{ summariser: 0, total: 0.036 },
    });
  });

  it("is more where they are kept for long, and where the prompt is longer than a tier", () => {
    expect(costOf(usage, prices, { isKeptLong: true })?.cacheWrite).toBe(0.024);
    const above = { tokens: 54_999, input: 6, output: 30, cacheRead: 0.6, cacheWrite: 7.5 };
    expect(costOf(usage, { ...prices, above })).toMatchObject({ input: 0.006, output: 0.006 });
    const next = { ...above, tokens: 55_000 };
    expect(costOf(usage, { ...prices, above: next })?.input).toBe(0.003);
  });

  it("is not known, and not nothing, where a price is missing for tokens that there are", () => {
    expect(costOf(usage, null)).toBeNull();
    expect(costOf(usage, { ...prices, cacheRead: null })).toBeNull();
    expect(costOf({ ...usage, cacheRead: 0 }, { ...prices, cacheRead: null })).not.toBeNull();
    expect(costOf(usage, FREE)).toEqual(NO_COST);
  });

  it("goes by the settings, else by the catalogue with its tiers", () => {
    const { cost } = modelProfile({
      ...{ provider: "google", api: "google-generative-ai", id: "gemini-2.5-pro" },
    });
    expect(pricesOf(undefined, cost)).toMatchObject({ isRecorded: true, above: { input: 2.5 } });
    const own = { input: 1, output: 2 };
    expect(pricesOf({ cost: own }, cost)).toEqual({
      ...{ ...own, cacheRead: null, cacheWrite: null },
      isRecorded: false,
    });
    expect(pricesOf({ cost: { input: 1 } }, null)).toBeNull();
    const long = costOf({ ...usage, input: 200_000 }, pricesOf(undefined, cost));
    expect(long).toMatchObject({ input: 0.5, cacheRead: 0.0125, output: 0.003 });
  });

  it("is added up part by part", () => {
    const cost = costOf(usage, prices)!;
    expect(addCosts([cost, cost])).toMatchObject({ cacheRead: 0.03, total: 0.072 });
    expect(addCosts([])).toEqual(NO_COST);
  });
});

describe("a reply", () => {
  it("is kept with what it cost, unless its provider said so or nobody knows", () => {
    const cost = { input: 0.003, cacheRead: 0.015, cacheWrite: 0.015, output: 0.003, total: 0.036 };
    expect(withCost({ usage: counted }, {}, prices).usage).toEqual({ ...counted, cost });
    const told = { usage: { ...counted, cost: { ...cost, total: 1 } } };
    expect(withCost(told, {}, prices)).toBe(told);
    expect(withCost({ usage: counted }, {}, null)).toEqual({ usage: counted });
    expect(withCost({}, {}, prices)).toEqual({});
  });

  it("has no known cost in a class of service of which no prices are recorded", () => {
    const flex = { serviceTier: "flex" };
    expect(withCost({ usage: counted }, flex, { ...prices, isRecorded: true }).usage).toBe(counted);
    expect(withCost({ usage: counted }, flex, prices).usage).toHaveProperty("cost");
  });
});

describe("a model call", () => {
  it("costs what was reckoned when it was made, whatever the prices are now", () => {
    const { usage: kept } = withCost({ usage: counted }, {}, prices);
    expect(costOfCall({ usage: kept!, error: null }, null)?.total).toBe(0.036);
    expect(costOfCall({ usage: counted, error: null }, prices)?.total).toBe(0.036);
  });

  it("that was refused costs nothing, and one that broke off costs nobody knows what", () => {
    const failed = (kind: "overflow" | "network") =>
      costOfCall({ usage: null, error: "no", failure: { kind } }, prices);
    expect(failed("overflow")).toEqual(NO_COST);
    expect(failed("network")).toBeNull();
    expect(costOfCall({ usage: null, error: null }, prices)).toBeNull();
  });
});
