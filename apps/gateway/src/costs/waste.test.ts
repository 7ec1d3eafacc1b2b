import type { CacheReport, ModelCallReport } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import { costOfTry } from "../inspect/cost.ts";
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
const cache = (
  predicted: number,
  billed: number,
  code?: string,
  repeated?: CacheReport["repeated"],
): { cache: CacheReport } => ({
  cache: {
    ...{ predicted, billed, written: 0 },
    ...(code !== undefined && { broke: { code } as CacheReport["broke"] & object }),
    ...(repeated !== undefined && { repeated }),
  },
});
const waste = (calls: WastingCall[], prices: Prices | null = PRICES) =>
  wasteOf(
    { model: { requested: "p/m", resolved: "p/m", api: "x" }, modelCalls: calls },
    { pricesOf: () => prices, costOf: costOfTry },
  ).map(({ model: _, ...each }) => each);

describe("waste", () => {
  it("is nothing where the cache gave what it held, but for the end of a block", () => {
    const read = call({ usage: used(9_800, 2_000), ...cache(10_000, 9_800) });
    expect(waste([call(cache(0, 0, "first-call")), read])).toEqual([]);
  });

  it("counts what was sent before behind a summary, and not the summary or what is new", () => {
    const compacted = call({
      usage: used(500, 9_400),
      ...cache(500, 500, "messages-changed", { first: 500, moved: 5_000 }),
    });
    // 5,000 of 9,400 tokens were written again at 3.75 instead of read at 0.30.
    const expected = { cause: "broken-prefix", calls: 1, tokens: 5_000, dollars: 0.01725 };
    expect(waste([compacted])).toEqual([expected]);
    const renewed = call({
      usage: used(500, 9_400),
      ...cache(500, 500, "messages-changed", { first: 500, moved: 0 }),
    });
    expect(waste([renewed])).toEqual([]);
  });

  it("is never more than the prompt", () => {
    const repeated = { first: 0, moved: 50_000 };
    const shorter = { usage: used(0, 4_000, 1_000), ...cache(0, 0, "system-changed", repeated) };
    expect(waste([call(shorter)])).toMatchObject([{ tokens: 5_000, dollars: 0.0165 }]);
  });

  it("is also what the provider did not give, and not what nobody could expect", () => {
    const missed = call({ usage: used(0, 12_000), ...cache(10_000, 0) });
    expect(waste([missed])).toMatchObject([{ tokens: 10_000 }]);
    for (const code of ["first-call", "model-changed", "not-cached"])
      expect(waste([call({ usage: used(0, 12_000), ...cache(0, 0, code) })])).toEqual([]);
  });

  it("is what a cache had forgotten after a pause, apart from what a change moved meanwhile", () => {
    const late = { usage: used(0, 12_000), ...cache(0, 0, "expired", { first: 10_000, moved: 0 }) };
    const expected = { cause: "after-pause", calls: 1, tokens: 10_000, dollars: 0.0345 };
    expect(waste([call(late)])).toEqual([expected]);
    const pruned = { ...late, ...cache(0, 0, "expired", { first: 6_000, moved: 2_000 }) };
    expect(waste([call(pruned)])).toMatchObject([
      { cause: "after-pause", tokens: 6_000 },
      { cause: "broken-prefix", tokens: 2_000 },
    ]);
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
    expect(waste([missed], null)).toMatchObject([{ tokens: 10_000, dollars: null }]);
  });

  it("is not what no server had, as where a connection is refused at each try", () => {
    const failure = { kind: "network" as const, unsent: true as const };
    const refused = {
      usage: null,
      error: "refused",
      failure,
      retries: 2,
    } as Partial<ModelCallReport>;
    expect(waste([call(refused)])).toEqual([]);
  });

  it("is not what a person stopped", () => {
    expect(waste([call({ error: "x", usage: null, failure: { kind: "aborted" } })])).toEqual([]);
  });
});
