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
});
const routeOf = (name: string) =>
  resolveModel({ ...modelRequest(ConfigSchema.parse({}), environment), name });

const PARTS: readonly AskPart[] = ["cacheRetention", "clearToolResultsAbove", "compactAbove"];

it.each([
  ["anthropic/claude-opus-4-6", ["cacheRetention", "clearToolResultsAbove", "compactAbove"]],
  ["openai/gpt-5.6", ["cacheRetention", "compactAbove"]],
  ["openrouter/meta-llama/llama-4", []],
  ["ollama/qwen3", []],
  ["deepseek/deepseek-chat", []],
  ["offline/offline", []],
])("of %s only %j is asked", (name, taken) => {
  expect(PARTS.filter((part) => takesAsk(part, routeOf(name)))).toEqual(taken);
});

it("a class of service stays with the vendors that have it", () => {
  expect(foreignTier("standard_only", routeOf("anthropic/claude-opus-4-6"))).toBeUndefined();
  expect(foreignTier("standard_only", routeOf("openai/gpt-5.6"))).toContain(
    "which openai does not have: it is not sent; there are auto",
  );
  expect(foreignTier("flex", routeOf("anthropic/claude-opus-4-6"))).toContain("standard_only");
  expect(foreignTier("flex", routeOf("ollama/qwen3"))).toBeUndefined();
});
