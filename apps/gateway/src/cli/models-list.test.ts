import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PROVIDERS } from "@clew/plugin-sdk/host";
import { expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import type { ListedModel } from "../models/list-models.ts";
import { clew, collectOutput } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { modelList } from "./models-list.ts";

const PAST = "2026-01-01T00:00:00.000Z";

async function list(config: object, filter?: string, variables: Record<string, string> = {}) {
  const home = await temporaryHome();
  await writeFile(join(home, "clew.json"), JSON.stringify(config));
  const environment = readEnvironment({ CLEW_HOME: home, HOME: home, ...variables });
  const rest = { kind: "billing", at: PAST, until: "2999-01-01T00:00:00.000Z", failures: 1 };
  const rests = { v: 1, models: { "openai/gpt-5": rest } };
  await writeFile(join(home, "model-rests.json"), JSON.stringify(rests));
  const output = collectOutput();
  const code = await modelList(filter, { json: true }, { environment, output });
  const { models } = JSON.parse(output.out()) as { models: ListedModel[] };
  const named = (name: string) => models.find((model) => model.name === name)!;
  return { code, models, named, text: output.out() };
}

const CONFIG = {
  agents: {
    defaults: { model: { primary: "anthropic/claude-opus-4-6", fallbacks: ["openai/gpt-5"] } },
  },
  models: {
    providers: {
      house: {
        baseUrl: "http://127.0.0.1:1/v1",
        apiKey: "secret-1",
        models: [{ id: "m", contextWindow: 9000, cost: { input: 1, output: 2 } }],
      },
    },
  },
};

it("every model in use comes first, with what it speaks, holds, costs and who asks it", async () => {
  const { code, models, named, text } = await list(CONFIG, undefined, {
    ANTHROPIC_API_KEY: "secret-2",
  });
  expect(code).toBe(0);
  expect(models.slice(0, 3).map(({ name }) => name)).toEqual([
    "anthropic/claude-opus-4-6",
    "openai/gpt-5",
    "house/m",
  ]);
  expect(models[0]).toMatchObject({
    ...{ usedBy: ["main"], api: "anthropic-messages", contextWindow: 200_000, cache: "marks" },
    prices: { input: 5, output: 25, asOf: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    ...{ signsInWith: "ANTHROPIC_API_KEY of the environment", problem: null, rest: null },
  });
  expect(models[1]).toMatchObject({
    usedBy: ["main, fallback 1"],
    signsInWith: null,
    problem: expect.stringContaining("OPENAI_API_KEY"),
    rest: { kind: "billing", until: "2999-01-01T00:00:00.000Z" },
  });
  expect(named("house/m")).toMatchObject({
    ...{ api: "openai-completions", contextWindow: 9000, problem: null },
    prices: { input: 1, output: 2, cacheRead: null, above: null, asOf: null },
  });
  expect(text).not.toContain("secret");
});

it("limits are those of calls, with a key and without one", async () => {
  const limits = async (variables: Record<string, string>) => {
    const { models } = await list(CONFIG, "claude-opus", variables);
    return models.map(({ name, contextWindow, maxOutputTokens }) => ({
      ...{ name, contextWindow, maxOutputTokens },
    }));
  };
  const unsigned = await limits({});
  expect(unsigned).toEqual(await limits({ ANTHROPIC_API_KEY: "secret-2" }));
  expect(unsigned[0]).toMatchObject({ maxOutputTokens: 32_000 });
});

it("every provider that is known is there, with a price where one is recorded", async () => {
  const { models, named } = await list({});
  for (const { id } of PROVIDERS)
    expect(models.some(({ name }) => name.startsWith(`${id}/`))).toBe(true);
  expect(named("openai/gpt-4.1").prices).toMatchObject({ asOf: expect.any(String) });
  expect(named("groq/*")).toMatchObject({ prices: null, api: "openai-completions" });
});

it("only names that hold the filter are listed; none of them is exit code 1", async () => {
  const { models } = await list({}, "GEMINI-3");
  expect(models.map(({ name }) => name)).toEqual(["google/gemini-3-pro-preview"]);
  expect((await list({}, "nosuch")).code).toBe(1);
});

it("is a table for people", async () => {
  const home = await temporaryHome();
  const { code, output, errors } = await clew(home, ["models", "list", "offline"]);
  expect([code, errors]).toEqual([0, expect.stringContaining("US dollars per million tokens")]);
  expect(output).toMatch(/^model +speaks +window[\s\S]*offline\/offline +offline +200,000/);
});

it.each([
  [["models", "lst"], "clew models list"],
  [["models", "nosuch"], "clew models --help"],
  [["sessions", "shwo"], "clew sessions show"],
  [["modls"], "clew models"],
  [["plugins", "instal"], "clew plugins install"],
])("an unknown command, %j, is refused with what it may have been", async (words, meant) => {
  const { code, errors } = await clew(await temporaryHome(), [...words, "--help"]);
  expect([code, errors]).toEqual([2, expect.stringContaining(meant)]);
  expect((await clew(await temporaryHome(), words)).code).toBe(2);
});
