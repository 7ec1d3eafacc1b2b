import type { CacheReport, ModelCallReport } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import { costOfCall } from "../inspect/cost.ts";
import type { Prices } from "./prices.ts";
import { type WastingCall, wasteOf } from "./waste.ts";

const PRICES: Prices = {
  ...{ input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  isRecorded: true,
};
const used = (cacheRead: number, cacheWrite: number, input = 0) => ({
  ...{ input, output: 0, cacheRead, cacheWrite, totalTokens: 0 },
});
const call = (given: Partial<ModelCallReport> = {}): WastingCall => ({
  ...{ usage: used(0, 10_000), error: null, retries: 0, system: [], tools: [] },
  messages: { kept: 0, items: [], tokens: 9_000 },
  ...given,
});
const cache = (predicted: number, billed: number, code?: string): { cache: CacheReport } => ({
  cache: {
    ...{ predicted, billed, written: 0 },
    ...(code !== undefined && { broke: { code } as CacheReport["broke"] & object }),
  },
});
const waste = (calls: WastingCall[], before?: WastingCall, prices: Prices | null = PRICES) =>
  wasteOf({ model: { requested: "p/m", resolved: "p/m", api: "x" }, modelCalls: calls }, before, {
    pricesOf: () => prices,
    costOf: costOfCall,
  }).map(({ model: _, ...each }) => each);

describe("waste", () => {
  it("is nothing where the cache gave what it held, but for the end of a block", () => {
    const read = call({ usage: used(9_800, 2_000), ...cache(10_000, 9_800) });
    expect(waste([call(cache(0, 0, "first-call")), read])).toEqual([]);
  });

  it("is what a changed beginning cost more than the cache would have", () => {
    const changed = call({
      usage: used(1_000, 11_000),
      ...cache(1_000, 1_000, "messages-changed"),
    });
    // 9,000 tokens of the last 10,000 were written again at 3.75 instead of read at 0.30.
    const expected = { cause: "broken-prefix", calls: 1, tokens: 9_000, dollars: 0.03105 };
    expect(waste([changed], call())).toEqual([expected]);
    const shorter = call({ usage: used(0, 4_000, 1_000), ...cache(0, 0, "system-changed") });
    expect(waste([shorter], call())).toMatchObject([{ tokens: 5_000, dollars: 0.0165 }]);
  });

  it("is also what the provider did not give, and not what nobody could expect", () => {
    const missed = call({ usage: used(0, 12_000), ...cache(10_000, 0) });
    expect(waste([missed], call())).toMatchObject([{ tokens: 10_000 }]);
    for (const code of ["expired", "first-call", "model-changed", "not-cached"])
      expect(waste([call({ usage: used(0, 12_000), ...cache(0, 0, code) })], call())).toEqual([]);
  });

  it("is what was sent again, and what was refused as too large", () => {
    const failed = call({ error: "no", usage: null, failure: { kind: "overloaded" }, retries: 2 });
    const broken = call({ error: "no", failure: { kind: "network" } });
    const large = { kind: "overflow" as const, promptTokens: 20_000 };
    const refused = call({ error: "too long", usage: null, failure: large });
    expect(waste([failed, broken, refused])).toEqual([
      { cause: "re-sent", calls: 4, tokens: 37_000, dollars: 0.0375 },
      { cause: "over-full", calls: 1, tokens: 20_000, dollars: 0 },
    ]);
  });

  it("has no known price where the model has none", () => {
    const missed = call({ usage: used(0, 12_000), ...cache(10_000, 0) });
    expect(waste([missed], call(), null)).toMatchObject([{ tokens: 10_000, dollars: null }]);
  });

  it("is not what a person stopped", () => {
    expect(waste([call({ error: "x", usage: null, failure: { kind: "aborted" } })])).toEqual([]);
  });
});
