import { describe, expect, it } from "vitest";
import { APIS } from "./apis.ts";
import { modelProfile, PROFILE_ROWS } from "./find-profile.ts";
import { findProvider } from "./providers.ts";

const CHAT = "openai-completions";
const profileOf = (provider: string, api: string, id: string, more: object = {}) =>
  modelProfile({ provider, api, id, ...more });
const replayOf = (provider: string, id: string, reasoning?: boolean) =>
  profileOf(provider, CHAT, id, reasoning === undefined ? {} : { reasoning }).reasoning.replay;

describe("the profile of a model", () => {
  it("is the same object for the same request, whatever the spelling of its names", () => {
    expect(profileOf(" OpenAI ", CHAT, "GPT-4.1")).toBe(profileOf("openai", CHAT, "gpt-4.1"));
  });

  it("of one nobody knows is usable, and says what was taken for granted", () => {
    const { reasoning, limits, cost, assumed } = profileOf("acme", "acme-api", "constructor");
    expect({ replay: reasoning.replay, limits, cost }).toEqual({
      replay: "keep",
      limits: { contextWindow: null, maxOutputTokens: null },
      cost: null,
    });
    expect(assumed).toEqual([
      'Nobody recorded the api "acme-api": it is taken to refuse nothing that others accept.',
      'Nobody recorded the model "constructor": its thinking is treated as "keep".',
      "Its window is not recorded.",
      "Its prices are not recorded.",
    ]);
    expect(profileOf("openai", "openai-completions", "gpt-4.1").assumed).toEqual([]);
  });

  it("takes what a configuration says over everything else, field by field", () => {
    const changes = { reasoning: { replay: "strip" as const, carrier: undefined } };
    const usual = profileOf("deepseek", CHAT, "deepseek-reasoner");
    expect(profileOf("deepseek", CHAT, "deepseek-reasoner", { changes })).toEqual({
      ...usual,
      reasoning: { ...usual.reasoning, replay: "strip" },
    });
  });

  it("keeps the thinking of a Claude nobody has seen yet, and not that of the first three generations", () => {
    const old = [
      ...["claude-1", "claude-2.1", "claude-instant-1.2", "anthropic.claude-v2:1"],
      ...["claude-3-opus-20240229", "claude-3-5-sonnet@20240620", "claude-3-7-sonnet-latest"],
      ...["us.anthropic.claude-3-5-haiku-20241022-v1:0", "vertex/claude-sonnet-3-7"],
    ];
    const current = [
      ...["claude-opus-4-6", "claude-opus-5-5", "claude-sonnet-5", "claude-haiku-5-20261101"],
      ...["claude-mythos-5-1", "claude-fable-5-1", "anthropic.claude-sonnet-5-5-v1:0"],
      ...["claude-10", "claude-something-new", "eu.anthropic.claude-haiku-4-5-20251001-v1:0"],
    ];
    const replays = (ids: string[]) => [
      ...new Set(ids.map((id) => profileOf("x", "anthropic-messages", id).reasoning.replay)),
    ];
    expect(replays(old)).toEqual(["tools"]);
    expect(replays(current)).toEqual(["keep"]);
  });

  it("knows which Claudes bind their thinking to what stood before it", () => {
    const isBound = (id: string) =>
      profileOf("anthropic", "anthropic-messages", id).reasoning.boundToPrefix;
    const bound = [
      ...["claude-opus-5-5", "claude-fable-5-1", "claude-mythos-5-2", "claude-sonnet-6"],
      ...["anthropic.claude-haiku-5-5-20261101-v1:0", "claude-12-haiku"],
    ];
    const free = [
      ...["claude-opus-4-6", "claude-opus-4-8", "claude-opus-5", "claude-fable-5"],
      ...["claude-sonnet-4-20250514", "claude-haiku-5-20261101"],
    ];
    expect([...bound, ...free].filter(isBound)).toEqual(bound);
  });

  it("decides by the server what a Chat field may hold, and by the name where the server is anybody's", () => {
    expect(replayOf("acme", "qwen")).toBe("tools");
    expect(replayOf("acme", "qwen", true)).toBe("keep");
    expect(replayOf("acme", "moonshotai/kimi-k2.6:free")).toBe("require");
    expect(replayOf("acme", "not-kimi-k2.6")).toBe("tools");
    expect(replayOf("acme", "glm-5.2")).toBe("keep");
    expect(replayOf("groq", "moonshotai/kimi-k2.6", true)).toBe("strip");
    expect(replayOf("deepseek", "deepseek-chat")).toBe("require");
    expect(replayOf("ollama", "qwen3", true)).toBe("tools");
    expect(profileOf("vllm", CHAT, "x").reasoning.carrier).toBe("reasoning");
    expect(profileOf("openrouter", CHAT, "google/gemini-3").reasoning.carrier).toBe(
      "reasoning_details",
    );
  });

  it("treats a Gemini nobody has seen like the newest, and the first two generations as they were", () => {
    const gemini = (id: string) => profileOf("google", "google-generative-ai", id);
    const asksFor = (id: string) => gemini(id).reasoning.ask;
    const levels = ["gemini-3-pro-preview", "gemini-3.5-flash", "gemini-4-argon", "gemini-12"];
    expect([...levels, "gemini-flash-latest"].map(asksFor)).toEqual(Array(5).fill("level"));
    expect(["gemini-2.5-pro", "gemini-2.5-flash-lite"].map(asksFor)).toEqual(["budget", "budget"]);
    const silent = [
      "gemini-2.0-flash",
      "gemini-1.5-pro",
      "gemini-2.5-flash-image",
      "gemma-3-27b-it",
    ];
    expect(new Set(silent.map(asksFor))).toEqual(new Set(["none"]));
    expect(gemini("gemini-4-argon").calls.signed).toBe("required");
    expect(gemini("gemini-2.5-pro").calls.signed).toBe("kept");
    expect(gemini("gemini-4-argon").images.inResults).toBe(true);
    expect(gemini("gemini-2.5-pro").images.inResults).toBe(false);
    expect(gemini("gemini-3-pro-preview").reasoning.efforts).toEqual(["low", "high"]);
    expect(profileOf("openrouter", CHAT, "google/gemini-3-pro").images.mimeTypes).not.toContain(
      "image/heic",
    );
  });

  it("lets Gemini models behind a router read each other's reasoning", () => {
    const { reads } = profileOf("openrouter", CHAT, "google/gemini-3-pro").reasoning;
    expect("google/gemini-2.5-pro").toMatch(new RegExp(reads.models!));
    expect("anthropic/claude-opus-4.6").not.toMatch(new RegExp(reads.models!));
    expect(reads.sameAccount).toBe(false);
  });

  it("has a cache time where its provider has one", () => {
    expect(profileOf("anthropic", "anthropic-messages", "claude-opus-4-6").cache).toMatchObject({
      how: "marks",
      marks: 4,
      shortMs: findProvider("anthropic")?.cacheTtlMs,
    });
  });

  it("has rows about providers and apis of the catalogue only", () => {
    const apis = APIS.map(({ id }) => id);
    for (const { when } of PROFILE_ROWS) {
      for (const id of when.providers ?? []) expect(findProvider(id), id).toBeDefined();
      expect(apis).toEqual(expect.arrayContaining([...(when.apis ?? [])]));
    }
  });
});
