import { describe, expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { ModelsConfigSchema } from "../config/models.ts";
import { resolveModel } from "./resolve.ts";

const resolve = (
  name: string,
  providers: unknown = {},
  variables: Record<string, string> = {},
  contextTokens?: number,
) =>
  resolveModel({
    name,
    models: ModelsConfigSchema.parse({ providers }),
    environment: readEnvironment(variables),
    apis: ["openai-completions", "offline"],
    contextTokens,
  });

describe("a model name", () => {
  it("finds the offline model without any setting", () => {
    expect(resolve("offline/offline").model).toMatchObject({
      provider: "offline",
      api: "offline",
      id: "offline",
    });
  });

  it("finds local servers without any setting, and takes any model they may have", () => {
    expect(resolve("ollama/library/qwen3:8b")).toMatchObject({
      model: {
        provider: "ollama",
        api: "openai-completions",
        id: "library/qwen3:8b",
        contextWindow: 32_768,
      },
      endpoint: { baseUrl: "http://127.0.0.1:11434/v1" },
    });
  });

  it("takes address, key and limits from the configuration", () => {
    const lab = {
      baseUrl: "http://10.0.0.1/v1",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a setting names a variable so.
      apiKey: "${LAB}",
      models: [{ id: "m", contextWindow: 9000, maxTokens: 100, input: ["text"] }],
    };
    expect(resolve("lab/m", { lab }, { LAB: "k" })).toEqual({
      ...{ name: "lab/m", prices: null },
      model: {
        provider: "lab",
        api: "openai-completions",
        id: "m",
        contextWindow: 9000,
        maxOutputTokens: 100,
        account: expect.any(String),
        profile: expect.any(Object),
        acceptsImages: false,
      },
      endpoint: { baseUrl: "http://10.0.0.1/v1", apiKey: "k" },
      access: { from: "the setting models.providers.lab.apiKey" },
    });
    expect(resolve("lab/m", { lab }, { LAB: "k" }, 5000).model.contextWindow).toBe(5000);
    expect(() => resolve("lab/m", { lab })).toThrow(/names LAB, which is not in the environment/);
  });

  it("takes a key from the usual variable", () => {
    expect(resolve("openai/gpt", {}, { OPENAI_API_KEY: "k" }).endpoint).toEqual({
      baseUrl: "https://api.openai.com/v1",
      apiKey: "k",
    });
    expect(() => resolve("openai/gpt")).toThrow(/OPENAI_API_KEY/);
    expect(
      resolve("gemini/x", { gemini: { baseUrl: "http://x/v1" } }, { GOOGLE_API_KEY: "k" }).endpoint,
    ).toEqual({ baseUrl: "http://x/v1", apiKey: "k" });
  });

  it("speaks the provider's usual api that has a driver, and tells how long its cache lives", () => {
    expect(resolve("openai/gpt", {}, { OPENAI_API_KEY: "k" }).model).toMatchObject({
      api: "openai-completions",
      cacheTtlMs: 300_000,
    });
    expect(resolve("ollama/x").model).not.toHaveProperty("cacheTtlMs");
    expect(() => resolve("anthropic/claude-opus-4-6", {}, { ANTHROPIC_API_KEY: "k" })).toThrow(
      /speaks "anthropic-messages", for which this Clew has no driver/,
    );
  });

  it("behind a server of a person's own speaks Chat Completions unless told otherwise", () => {
    const anthropic = { baseUrl: "http://127.0.0.1:4000/v1" };
    expect(resolve("anthropic/claude", { anthropic }).model.api).toBe("openai-completions");
  });

  it("of a provider with several apis speaks its first at home, and the common one elsewhere", () => {
    const apiOf = (baseUrl: string) =>
      resolveModel({
        name: "openai/gpt",
        models: ModelsConfigSchema.parse({ providers: { openai: { baseUrl } } }),
        environment: readEnvironment({ OPENAI_API_KEY: "k" }),
        apis: ["openai-completions", "openai-responses"],
      }).model.api;
    expect(apiOf("https://api.openai.com/v1")).toBe("openai-responses");
    expect(apiOf("http://127.0.0.1:4000/v1")).toBe("openai-completions");
  });

  it("that is not known is answered with those that are", () => {
    expect(() => resolve("olama/x")).toThrow(
      /unknown provider "olama"\. Did you mean "ollama"\?(?!.*known: )/,
    );
    expect(() =>
      resolve("lab/modle", {
        lab: { baseUrl: "http://x/v1", models: [{ id: "model" }, { id: "other" }] },
      }),
    ).toThrow(/Did you mean "lab\/model"\? Known: model, other\.$/);
    expect(() => resolve("offline/other")).toThrow(/known: offline/);
    expect(() => resolve("gpt")).toThrow(/is not a model name/);
    expect(() => resolve("__proto__/x")).toThrow(/unknown provider/);
    expect(() => resolve("lab/m", { lab: {} })).toThrow(/has no address/);
    expect(() => resolve("lab/m", { lab: { baseUrl: "http://x", api: "morse" } })).toThrow(
      /speaks "morse".*openai-completions, offline/,
    );
  });

  it("brings what the catalogue knows of the server that answers, under what is configured", () => {
    const mine = {
      baseUrl: "https://api.deepseek.com/v1",
      apiKey: "sk-mine",
      models: [{ id: "m", profile: { reasoning: { replay: "keep" } } }, { id: "n" }],
    };
    const replay = (name: string) => resolve(name, { mine }).model.profile?.reasoning.replay;
    expect([replay("mine/m"), replay("mine/n")]).toEqual(["keep", "require"]);
    const openai = resolve("openai/gpt-4.1", {}, { OPENAI_API_KEY: "k" }).model;
    expect(openai.contextWindow).toBe(1_047_576);
  });

  it("lets a reply be as long as the model can, as far as prompts leave room for it", () => {
    const keys = { OPENAI_API_KEY: "k" };
    const cap = (id: string) => resolve(`openai/${id}`, {}, keys).model.maxOutputTokens;
    expect(cap("gpt-4o")).toBe(16_384);
    expect(cap("gpt-5")).toBe(64_000);
    expect(cap("somebody-elses")).toBe(8192);
    const claude = { baseUrl: "http://127.0.0.1:1/v1", models: [{ id: "claude-opus-4-6" }] };
    expect(resolve("house/claude-opus-4-6", { house: claude }).model.maxOutputTokens).toBe(32_000);
    const listed = { ...claude, models: [{ id: "claude-opus-4-6", maxTokens: 64_000 }] };
    expect(resolve("house/claude-opus-4-6", { house: listed }).model.maxOutputTokens).toBe(64_000);
  });

  it("speaks the provider's own api in each region, and the common one to a stand-in", () => {
    const apis = ["openai-responses", "openai-completions"];
    const apiAt = (baseUrl: string) =>
      resolveModel({
        ...{ name: "openai/gpt-5.6", contextTokens: undefined, apis },
        models: ModelsConfigSchema.parse({ providers: { openai: { baseUrl, apiKey: "k" } } }),
        environment: readEnvironment({}),
      }).model.api;
    expect(apiAt("https://eu.api.openai.com/v1")).toBe("openai-responses");
    expect(apiAt("http://127.0.0.1:4301/v1")).toBe("openai-completions");
  });

  it("names the account by a fingerprint that holds nothing of the key", () => {
    const { model } = resolve("openai/m", {}, { OPENAI_API_KEY: "sk-very-secret" });
    expect(model.account).toMatch(/^[0-9a-f]{12}$/);
    expect(JSON.stringify(model)).not.toContain("secret");
    expect(resolve("ollama/m").model).not.toHaveProperty("account");
  });
});
