import { type ModelError, modelProfile } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { planRemedy } from "./plan-remedy.ts";
import { profileOf, type Remedy, refusedParts, remediedAsk, remediedModel } from "./remedy.ts";

const route = (provider: string, api: string, id: string) => modelProfile({ provider, api, id });
const CLAUDE = route("anthropic", "anthropic-messages", "claude-opus-4-6");
const BOUND = route("anthropic", "anthropic-messages", "claude-fable-5-1");
const RESPONSES = route("openai", "openai-responses", "gpt-5.5");
const GEMINI = route("google", "google-generative-ai", "gemini-3-pro");
const CHAT = route("lab", "openai-completions", "m");
const ROUTER = route("openrouter", "openai-completions", "google/gemini-3-pro");
const DEEPSEEK = route("deepseek", "openai-completions", "deepseek-reasoner");
const NOVA = route("amazon-bedrock", "bedrock-converse-stream", "amazon.nova-pro");

const until = 7;
const proofs: Remedy = { kind: "without-proofs", until };
const told: Remedy = { kind: "calls-as-text", until };

describe("planRemedy", () => {
  it.each<[ModelError["kind"], string, typeof CLAUDE, Remedy | undefined]>([
    ["signature", "Claude", CLAUDE, proofs],
    ["signature", "a Claude that binds thinking", BOUND, proofs],
    ["signature", "Gemini", GEMINI, proofs],
    ["signature", "a router", ROUTER, proofs],
    ["signature", "a model that reads none", NOVA, proofs],
    ["signature", "a Chat server", CHAT, { kind: "without-reasoning" }],
    ["signature", "a Chat server that wants reasoning back", DEEPSEEK, told],
    ["encrypted_content", "Responses", RESPONSES, proofs],
    ["pairing", "Claude", CLAUDE, told],
    ["pairing", "a Chat server", CHAT, told],
    ["reasoning_required", "a Chat server", CHAT, { kind: "reasoning-back" }],
    ["reasoning_required", "one that was known to want it", DEEPSEEK, told],
    ["reasoning_required", "a router", ROUTER, told],
    ["reasoning_required", "Claude", CLAUDE, { kind: "without-thinking" }],
    ["cache_rejected", "Claude", CLAUDE, { kind: "without-cache" }],
    ["cache_rejected", "Responses", RESPONSES, { kind: "without-cache" }],
    ["overflow", "Claude", CLAUDE, undefined],
    ["rate_limited", "Claude", CLAUDE, undefined],
    ["overloaded", "Claude", CLAUDE, undefined],
    ["unavailable", "Claude", CLAUDE, undefined],
    ["network", "Claude", CLAUDE, undefined],
    ["timeout", "Claude", CLAUDE, undefined],
    ["auth", "Claude", CLAUDE, undefined],
    ["billing", "Claude", CLAUDE, undefined],
    ["not_found", "Claude", CLAUDE, undefined],
    ["refused", "Claude", CLAUDE, undefined],
    ["invalid_request", "Claude", CLAUDE, undefined],
    ["invalid_response", "Claude", CLAUDE, undefined],
    ["aborted", "Claude", CLAUDE, undefined],
  ])("answers %s of %s", (kind, _name, profile, remedy) => {
    const facts = { profile, at: until };
    expect(planRemedy({ kind }, { ...facts, tried: [] })).toEqual(remedy);
    if (remedy !== undefined)
      expect(planRemedy({ kind }, { ...facts, tried: [remedy.kind] })).toBeUndefined();
  });

  it("does not ask a model that cannot stop thinking to stop", () => {
    const profile = { ...BOUND, reasoning: { ...BOUND.reasoning, canStop: false } };
    expect(planRemedy({ kind: "reasoning_required" }, { profile, at: until, tried: [] })).toEqual(
      told,
    );
  });
});

describe("remedies in force", () => {
  const model = {
    provider: "lab",
    api: "openai-completions",
    id: "m",
    contextWindow: 8000,
    maxOutputTokens: 100,
  };

  it("leave out up to the latest refusal, and calls with their proofs", () => {
    expect(refusedParts([])).toEqual({});
    expect(refusedParts([{ kind: "without-proofs", until: 9 }, proofs])).toEqual({
      proofsUntil: 9,
    });
    expect(refusedParts([told])).toEqual({ proofsUntil: 7, callsUntil: 7 });
  });

  it("change what a call asks, and nothing without one", () => {
    const ask = { serviceTier: "flex", cache: { retention: "long" as const } };
    expect(remediedAsk(ask, [])).toEqual(ask);
    expect(remediedAsk(ask, [{ kind: "without-cache" }, { kind: "without-thinking" }])).toEqual({
      serviceTier: "flex",
      cache: { retention: "none" },
      reasoning: { effort: "off" },
    });
  });

  it("change what the model is taken for, to the same object each time", () => {
    expect(remediedModel(model, [proofs])).toBe(model);
    const back = remediedModel(model, [{ kind: "reasoning-back" }]);
    expect(back.profile?.reasoning.replay).toBe("require");
    expect(remediedModel(model, [{ kind: "reasoning-back" }]).profile).toBe(back.profile);
    expect(remediedModel(model, [{ kind: "without-reasoning" }]).profile?.reasoning.replay).toBe(
      "strip",
    );
    expect(profileOf({ ...model, profile: CLAUDE })).toBe(CLAUDE);
  });
});
