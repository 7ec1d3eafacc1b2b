// What is recorded of Gemini, on its own wire and on others.
import type { ProfileRow } from "../../contract/profile.ts";

const OWN_APIS = ["google-generative-ai", "google-gemini-cli"] as const;
const MEGABYTE = 1024 * 1024;

/** All but the first two generations, so that newer ones are treated like the newest known. */
const NEW = /gemini-(?![12](?:[.-]|$))/;

/**
 * Prices, windows and words as of October 2026: https://ai.google.dev/gemini-api/docs/models,
 * …/thinking, …/caching, …/thought-signatures and …/image-understanding; sizes of images:
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding
 */
export const GEMINI: readonly ProfileRow[] = [
  {
    when: { models: /gemini/ },
    set: {
      limits: { contextWindow: 1_048_576, maxOutputTokens: 65_536 },
      cache: { how: "automatic", minTokens: 2048 },
    },
  },
  {
    when: { apis: OWN_APIS, models: /gemini/ },
    set: {
      images: {
        mimeTypes: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
        maxBytes: 7 * MEGABYTE,
        maxCount: 3000,
        inResults: false,
      },
    },
  },
  { when: { apis: OWN_APIS, models: /gemini-3-pro/ }, set: { images: { maxCount: 900 } } },
  // These do not think, or refuse to be asked.
  {
    when: { models: /gemini-(?:1|2\.0)|gemini-.*-image|gemini-nano|gemma/ },
    set: { reasoning: { ask: "none" } },
  },
  {
    when: { models: NEW },
    set: { reasoning: { ask: "level", canStop: false }, cache: { minTokens: 4096 } },
  },
  { when: { models: /gemini-3-pro/ }, set: { reasoning: { efforts: ["low", "high"] } } },
  {
    when: { models: /gemini-\d+\.\d+-pro/ },
    set: { reasoning: { efforts: ["low", "medium", "high"] } },
  },
  {
    when: { apis: OWN_APIS, models: NEW },
    set: { calls: { signed: "required" }, images: { inResults: true } },
  },
  { when: { apis: ["openai-completions"], models: /gemini/ }, set: { calls: { signed: "kept" } } },
  // Google's own server of that wire; others keep proofs in another way.
  {
    when: { providers: ["gemini", "google"], apis: ["openai-completions"], models: NEW },
    set: { calls: { signed: "required" } },
  },
  { when: { models: /gemini-2\.5-pro/ }, set: { reasoning: { canStop: false } } },
  {
    when: { models: /gemini-2\.5-pro/ },
    set: {
      cost: {
        ...{ input: 1.25, output: 10, cacheRead: 0.125, cacheWrite: 0 },
        above: { tokens: 200_000, input: 2.5, output: 15, cacheRead: 0.25, cacheWrite: 0 },
      },
    },
  },
  {
    when: { models: /gemini-2\.5-flash(?!-lite)/ },
    set: { cost: { input: 0.3, output: 2.5, cacheRead: 0.03, cacheWrite: 0 } },
  },
];
