// What is recorded of Gemini, on its own wire and on others.
import type { ProfileRow } from "../../contract/profile.ts";

export const GEMINI: readonly ProfileRow[] = [
  {
    when: { models: /gemini/ },
    set: {
      limits: { contextWindow: 1_048_576, maxOutputTokens: 65_536 },
      cache: { how: "automatic", minTokens: 1024 },
    },
  },
  { when: { models: /gemini-[3-9]/ }, set: { reasoning: { ask: "level", canStop: false } } },
  {
    when: { apis: ["google-generative-ai", "google-gemini-cli"], models: /gemini-[3-9]/ },
    set: { calls: { signed: "required" } },
  },
  { when: { apis: ["openai-completions"], models: /gemini/ }, set: { calls: { signed: "kept" } } },
  { when: { models: /gemini-2\.5-pro/ }, set: { reasoning: { canStop: false } } },
  {
    when: { models: /gemini-2\.5-pro/ },
    set: { cost: { input: 1.25, output: 10, cacheRead: 0.125, cacheWrite: 0 } },
  },
  {
    when: { models: /gemini-2\.5-flash(?!-lite)/ },
    set: { cost: { input: 0.3, output: 2.5, cacheRead: 0.03, cacheWrite: 0 } },
  },
];
