// What is recorded of OpenAI's own models.
import type { ProfileRow } from "../../contract/profile.ts";

const PROVIDERS = ["openai", "openai-codex", "azure-openai"] as const;

const RESPONSES = [
  "openai-responses",
  "openai-chatgpt-responses",
  "azure-openai-responses",
] as const;

// These do not think, and refuse to be asked.
const UNTHINKING = /(?:^|\/)(?:chatgpt-|gpt-[34])|gpt-5[^/]*-chat/;
// These cannot be told not to.
const UNSTOPPABLE = /(?:^|\/)(?:o\d|gpt-5(?![.\d]))/;

/**
 * Prices as they were published with these models, up to August 2025, and not looked up since:
 * https://platform.openai.com/docs/pricing. A model that has none here has no price: none is
 * guessed.
 */
export const GPT: readonly ProfileRow[] = [
  { when: { providers: PROVIDERS }, set: { cache: { how: "automatic", minTokens: 1024 } } },
  // These keep prompts for a day on demand.
  {
    when: { providers: ["openai", "openai-codex"], models: /^gpt-(?:5|4\.1)(?!\d)/ },
    set: { cache: { longMs: 86_400_000 } },
  },
  // From here on what is kept is paid for, and places can be marked.
  {
    when: {
      providers: ["openai"],
      apis: ["openai-responses"],
      models: /^gpt-(?:5\.[6-9]|[6-9]|\d\d)/,
    },
    set: { cache: { marks: 4, shortMs: 1_800_000, longMs: 1_800_000 } },
  },
  {
    when: { providers: PROVIDERS, apis: ["openai-completions"] },
    set: { reasoning: { ask: "effort" } },
  },
  { when: { apis: RESPONSES, models: UNTHINKING }, set: { reasoning: { ask: "none" } } },
  {
    when: { providers: PROVIDERS, apis: ["openai-completions"], models: UNTHINKING },
    set: { reasoning: { ask: "none" } },
  },
  { when: { apis: RESPONSES, models: UNSTOPPABLE }, set: { reasoning: { canStop: false } } },
  {
    when: { providers: PROVIDERS, apis: ["openai-completions"], models: UNSTOPPABLE },
    set: { reasoning: { canStop: false } },
  },
  {
    when: { models: /^gpt-4\.1(?!\d)/ },
    set: {
      limits: { contextWindow: 1_047_576, maxOutputTokens: 32_768 },
      cost: { input: 2, output: 8, cacheRead: 0.5, cacheWrite: 0 },
    },
  },
  {
    when: { models: /^gpt-4o(?!-mini)/ },
    set: {
      limits: { contextWindow: 128_000, maxOutputTokens: 16_384 },
      cost: { input: 2.5, output: 10, cacheRead: 1.25, cacheWrite: 0 },
    },
  },
  {
    when: { models: /^gpt-5(?:$|-codex|-20)/ },
    set: {
      limits: { contextWindow: 400_000, maxOutputTokens: 128_000 },
      cost: { input: 1.25, output: 10, cacheRead: 0.125, cacheWrite: 0 },
    },
  },
];
