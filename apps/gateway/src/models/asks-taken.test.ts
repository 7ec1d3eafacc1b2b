import type { CallAsk } from "@clew/plugin-sdk/host";
import { expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { ConfigSchema } from "../config/schema.ts";
import { type AskPart, foreignTier, takesAsk } from "./asks-taken.ts";
import { modelRequest } from "./model-request.ts";
import { resolveModel } from "./resolve.ts";

const environment = readEnvironment({
  CLEW_HOME: "/nowhere",
  HOME: "/nowhere",
  ANTHROPIC_API_KEY: "k",
  OPENAI_API_KEY: "k",
  OPENROUTER_API_KEY: "k",
  DEEPSEEK_API_KEY: "k",
  GEMINI_API_KEY: "k",
  MISTRAL_API_KEY: "k",
});
const routeOf = (name: string) =>
  resolveModel({ ...modelRequest(ConfigSchema.parse({}), environment), name });

const ASK = {
  cache: { retention: "long" },
  temperature: 0.5,
  serverContext: { clearToolResultsAbove: 60_000, compactAbove: 40_000 },
} as const;
const PARTS: readonly AskPart[] = [
  "cacheRetention",
  "temperature",
  "clearToolResultsAbove",
  "compactAbove",
];
const taken = (name: string, ask: CallAsk = ASK) =>
  PARTS.filter((part) => takesAsk(part, ask, routeOf(name)));

it.each([
  [
    "anthropic/claude-opus-4-6",
    ["cacheRetention", "temperature", "clearToolResultsAbove", "compactAbove"],
  ],
  ["openai/gpt-5", ["cacheRetention", "compactAbove"]],
  // A key for its cache is sent, but no time.
  ["openai/gpt-4o", ["temperature", "compactAbove"]],
  ["mistral/mistral-large-latest", ["temperature"]],
  ["openrouter/meta-llama/llama-4", ["temperature"]],
  ["ollama/qwen3", ["temperature"]],
  ["deepseek/deepseek-chat", ["temperature"]],
  ["offline/offline", []],
])("of %s only %j is asked", (name, parts) => {
  expect(taken(name)).toEqual(parts);
});

it("a temperature that thinking forbids is not said to be asked", () => {
  const thinking = { ...ASK, reasoning: { effort: "high" } } as const;
  expect(taken("anthropic/claude-opus-4-6", thinking)).not.toContain("temperature");
});

it("the usual and nothing are asked, too, where there is a word for them", () => {
  const short = { ...ASK, cache: { retention: "short" } } as const;
  const none = { ...ASK, cache: { retention: "none" }, temperature: 0 } as const;
  for (const ask of [short, none])
    expect(taken("anthropic/claude-opus-4-6", ask).slice(0, 2)).toEqual([
      ...["cacheRetention", "temperature"],
    ]);
});

it("a class of service stays with the vendors that have it", () => {
  expect(foreignTier("standard_only", routeOf("anthropic/claude-opus-4-6"))).toBeUndefined();
  expect(foreignTier("standard_only", routeOf("openai/gpt-5.6"))).toContain(
    "which openai does not have: it is not sent; there are auto",
  );
  expect(foreignTier("flex", routeOf("anthropic/claude-opus-4-6"))).toContain("standard_only");
  expect(foreignTier("flex", routeOf("ollama/qwen3"))).toBeUndefined();
  expect(foreignTier("fast", routeOf("openai/gpt-5.6"))).toBeUndefined();
  for (const name of ["google/gemini-2.5-pro", "openrouter/openai/gpt-5"])
    expect(foreignTier("standard_only", routeOf(name))).toBeDefined();
});
