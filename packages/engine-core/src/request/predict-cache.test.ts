import { describe, expect, it } from "vitest";
import type { ReportItem } from "../report/item.ts";
import { type NextRequest, predictCache, type SentRequest } from "./predict-cache.ts";

const item = (hash: string, tokens: number): ReportItem => ({
  source: { kind: "engine" },
  reason: "",
  hash,
  tokens,
});
const before: SentRequest = {
  model: "a/m",
  at: 1000,
  keptMs: 300_000,
  tools: ["t"],
  system: ["s"],
  messages: 4,
  messageTokens: 5000,
  counted: null,
  wasRead: false,
  responseId: undefined,
};
const next: NextRequest = {
  model: "a/m",
  now: 2000,
  tools: [item("t", 100)],
  system: [item("s", 1000)],
  kept: 4,
  keptTokens: 5000,
  movedTokens: 0,
  tokenRatio: 1,
  cache: "asked",
  minTokens: 1024,
};

describe("what is expected of the provider's cache", () => {
  it.each<[string, Partial<NextRequest>, Partial<SentRequest> | null, number, object | undefined]>([
    ["everything that was sent before", {}, {}, 6100, undefined],
    ["in the model's own tokens", { tokenRatio: 1.5 }, {}, 9150, undefined],
    ["nothing at first", {}, null, 0, { code: "first-call" }],
    ["nothing of another model", { model: "b/m" }, {}, 0, { code: "model-changed" }],
    ["nothing after too long", { now: 400_000 }, {}, 0, { code: "expired" }],
    ["as long as nobody knows how long", { now: 4e9 }, { keptMs: null }, 6100, undefined],
    ["nothing behind other tools", { tools: [item("u", 100)] }, {}, 0, { code: "tools-changed" }],
    ["nothing without them", { tools: [] }, {}, 0, { code: "tools-changed" }],
    [
      "the tools before another system prompt",
      { system: [item("r", 900)], tools: [item("t", 2000)] },
      {},
      2000,
      { code: "system-changed" },
    ],
    [
      "what stands before a message that changed",
      { kept: 1, keptTokens: 2000 },
      {},
      3100,
      { code: "messages-changed", at: 1 },
    ],
    ["all that the provider counted", { tokenRatio: 1.1 }, { counted: 8317 }, 8317, undefined],
    ["no more than it counted", { keptTokens: 6000 }, { counted: 6000 }, 6000, undefined],
    [
      "of what it counted the part before a message that changed",
      { kept: 1, keptTokens: 2000 },
      { counted: 8600 },
      4100,
      { code: "messages-changed", at: 1 },
    ],
    [
      "not above its count, however much tools and system prompt are estimated to take",
      { kept: 0, keptTokens: 0 },
      { counted: 900 },
      0,
      { code: "messages-changed", at: 0 },
    ],
    [
      "nothing so small",
      { keptTokens: 0, system: [], kept: 4 },
      { system: [] },
      0,
      { code: "too-small" },
    ],
    ["nothing where nothing was asked", { cache: "not-asked" }, {}, 0, { code: "not-asked" }],
    ["as anywhere once something was read", { cache: "none" }, { wasRead: true }, 6100, undefined],
    [
      "nothing of a model of which nobody knows, whatever another one read",
      { cache: "none", model: "b/m" },
      { wasRead: true },
      0,
      { code: "not-cached" },
    ],
    ["nothing where nobody caches", { cache: "none" }, {}, 0, { code: "not-cached" }],
  ])("is %s", (_name, now, then, predicted, broke) => {
    const sent = then === null ? undefined : { ...before, ...then };
    const found = predictCache(sent, { ...next, ...now });
    expect(found.predicted).toBe(predicted);
    expect(found.broke).toEqual(broke);
  });
});

describe("what of a request was sent before", () => {
  it.each<[string, Partial<NextRequest>, Partial<SentRequest>, object | undefined]>([
    ["is all that is expected where nothing broke", {}, {}, undefined],
    [
      "is what stands before a summary, and what moved behind it, and not the summary",
      { kept: 1, keptTokens: 500, movedTokens: 1500 },
      {},
      { first: 1600, moved: 1500 },
    ],
    [
      "is a share of what the provider counted",
      { kept: 1, keptTokens: 500, movedTokens: 1500 },
      { counted: 11_100 },
      { first: 2100, moved: 3000 },
    ],
    ["is all of the last request after a pause", { now: 4e5 }, {}, { first: 6100, moved: 0 }],
    [
      "is only what begins the same after a pause in which its end changed",
      { now: 4e5, kept: 2, keptTokens: 2000 },
      {},
      { first: 3100, moved: 0 },
    ],
    [
      "is everything behind other tools",
      { tools: [item("u", 900)] },
      {},
      { first: 0, moved: 6000 },
    ],
    [
      "are the messages behind another system prompt",
      { system: [item("r", 900)] },
      {},
      { first: 100, moved: 5000 },
    ],
    ["is nothing of another model's", { model: "b/m" }, {}, undefined],
  ])("%s", (_name, now, then, repeated) => {
    expect(predictCache({ ...before, ...then }, { ...next, ...now }).repeated).toEqual(repeated);
  });
});
