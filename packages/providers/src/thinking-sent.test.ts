import { expect, it } from "vitest";
import { temperatureSent, thinkingSent } from "./thinking-sent.ts";

const sent = (
  provider: string,
  api: string,
  id: string,
  effort?: "off" | "minimal" | "high" | "max",
) =>
  thinkingSent(
    {
      model: { provider, api, id, contextWindow: 200_000, maxOutputTokens: 10_000 },
      ...(effort && { reasoning: { effort } }),
    },
    {
      baseUrl: provider === "openrouter" ? "https://openrouter.ai/api/v1" : "http://127.0.0.1:1/v1",
    },
  );

it.each([
  // A model that cannot be told not to think is asked for its least.
  ["anthropic", "anthropic-messages", "claude-opus-5-5", "off", { kind: "on", effort: "low" }],
  ["google", "google-generative-ai", "gemini-3-pro-preview", "off", { kind: "on", effort: "low" }],
  ["openai", "openai-responses", "o3", "off", { kind: "on", effort: "low" }],
  [
    "amazon-bedrock",
    "bedrock-converse-stream",
    "us.anthropic.claude-opus-5-5-v1",
    "off",
    { kind: "on", effort: "low" },
  ],
  ["google", "google-generative-ai", "gemini-2.5-pro", "off", { kind: "on", budgetTokens: 512 }],
  // One that can is told so.
  ["anthropic", "anthropic-messages", "claude-opus-4-6", "off", { kind: "off" }],
  ["google", "google-generative-ai", "gemini-2.5-flash", "off", { kind: "off" }],
  ["google-gemini-cli", "google-gemini-cli", "gemini-2.5-flash", "off", { kind: "off" }],
  ["openai", "openai-responses", "gpt-5.5", "off", { kind: "off" }],
  ["openrouter", "openai-completions", "anthropic/claude-opus-4.6", "off", { kind: "off" }],
  ["mistral", "mistral-conversations", "magistral-medium", "off", { kind: "off" }],
  ["amazon-bedrock", "bedrock-converse-stream", "amazon.nova-2-lite-v1:0", "off", { kind: "off" }],
  // How hard.
  ["anthropic", "anthropic-messages", "claude-opus-4-6", "max", { kind: "on", budgetTokens: 8000 }],
  ["google", "google-generative-ai", "gemini-3-pro-preview", "max", { kind: "on", effort: "high" }],
  ["openai", "openai-responses", "gpt-5.5", "max", { kind: "on", effort: "xhigh" }],
  ["openrouter", "openai-completions", "z-ai/glm-5", "high", { kind: "on", effort: "high" }],
  ["ollama", "openai-completions", "qwen3", "high", { kind: "unsaid" }],
  ["offline", "offline", "offline", "high", { kind: "unsaid" }],
  // Nothing is asked: Claude does not think then, others do as they like.
  ["anthropic", "anthropic-messages", "claude-opus-4-6", undefined, { kind: "off" }],
  ["openai", "openai-responses", "gpt-5.5", undefined, { kind: "unsaid" }],
] as const)(
  "what %s over %s tells %s of %s is read from its request",
  (provider, api, id, effort, expected) => {
    expect(sent(provider, api, id, effort)).toEqual(expected);
  },
);

it.each([
  ["openai", "openai-completions", "gpt-5.5", "https://api.openai.com/v1", undefined],
  ["openai", "openai-completions", "gpt-4.1", "https://api.openai.com/v1", 0.5],
  ["openai", "openai-responses", "o3", "https://api.openai.com/v1", undefined],
  ["anthropic", "anthropic-messages", "claude-opus-5-5", "http://h/v1", undefined],
  ["anthropic", "anthropic-messages", "claude-opus-4-6", "http://h/v1", 0.5],
  [
    "amazon-bedrock",
    "bedrock-converse-stream",
    "us.anthropic.claude-opus-5-5-v1",
    "http://h",
    undefined,
  ],
  ["amazon-bedrock", "bedrock-converse-stream", "us.anthropic.claude-opus-4-6-v1", "http://h", 0.5],
  ["google", "google-generative-ai", "gemini-3-pro", "http://h", 0.5],
  ["google-gemini-cli", "google-gemini-cli", "gemini-3-pro", "http://h", 0.5],
  ["mistral", "mistral-conversations", "magistral-medium", "http://h", 0.5],
  ["offline", "offline", "offline", "", undefined],
] as const)("a temperature for %s over %s of %s", (provider, api, id, baseUrl, expected) => {
  const limits = { contextWindow: 200_000, maxOutputTokens: 10_000 };
  const model = { provider, api, id, ...limits };
  expect(temperatureSent({ model, temperature: 0.5 }, { baseUrl })).toBe(expected);
});
