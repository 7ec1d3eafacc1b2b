// What is recorded of Claude, wherever it is served.
import type { ProfileRow } from "../../contract/profile.ts";

const SIGNED_APIS = ["anthropic-messages", "bedrock-converse-stream"] as const;

// Generations 1 to 3, as vendors and routers write them; what came later is not here.
const OLD = /claude-(?:v?[123](?!\d)|instant)|claude.*(?:opus|sonnet|haiku)-[123](?!\d)/;
const UNTHINKING = /claude-(?:v?[12](?!\d)|instant|3[.-]5|3-(?:opus|sonnet|haiku))/;
// From here on a signature holds for one prefix only. Generations nobody has seen are counted in.
const BOUND =
  /(?:fable|mythos)-5[.-][12](?!\d)|(?:opus|sonnet|haiku)-5[.-]5(?!\d)|(?:claude|opus|sonnet|haiku|fable|mythos)-(?:[6-9]|\d\d)(?!\d)/;
const ADAPTIVE = /claude.*(?:-5[.-]5(?!\d)|(?:fable|mythos)-5(?!\d))/;

/**
 * Prices as they were published with these generations, up to November 2025, and
 * not looked up since: https://platform.claude.com/docs/en/about-claude/pricing. A model that has
 * none here has no price: none is guessed.
 */
export const CLAUDE: readonly ProfileRow[] = [
  {
    when: { models: /claude/ },
    set: { limits: { contextWindow: 200_000 }, cache: { minTokens: 1024 } },
  },
  { when: { apis: SIGNED_APIS, models: /claude/ }, set: { cache: { how: "marks", marks: 4 } } },
  { when: { apis: SIGNED_APIS, models: OLD }, set: { reasoning: { replay: "tools" } } },
  // These do not think, and refuse to be asked.
  { when: { apis: SIGNED_APIS, models: UNTHINKING }, set: { reasoning: { ask: "none" } } },
  {
    when: { apis: SIGNED_APIS, models: BOUND },
    set: { reasoning: { boundToPrefix: true }, calls: { canForce: false } },
  },
  {
    when: { apis: SIGNED_APIS, models: ADAPTIVE },
    set: { reasoning: { ask: "adaptive", canStop: false } },
  },
  {
    when: { models: /claude.*(?:opus-4|4-opus)(?!\d)(?![.-]\d(?!\d))/ },
    set: {
      limits: { maxOutputTokens: 32_000 },
      cost: { input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75, cacheWriteLong: 30 },
    },
  },
  {
    when: { models: /claude.*opus-4[.-][56](?!\d)/ },
    set: {
      limits: { maxOutputTokens: 64_000 },
      cost: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25, cacheWriteLong: 10 },
    },
  },
  {
    when: { models: /claude.*sonnet-4(?!\d)/ },
    set: {
      limits: { maxOutputTokens: 64_000 },
      cost: {
        ...{ input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWriteLong: 6 },
        above: {
          ...{ tokens: 200_000, input: 6, output: 22.5 },
          ...{ cacheRead: 0.6, cacheWrite: 7.5, cacheWriteLong: 12 },
        },
      },
    },
  },
  {
    when: { models: /claude.*haiku-4[.-]5(?!\d)/ },
    set: {
      limits: { maxOutputTokens: 64_000 },
      cost: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, cacheWriteLong: 2 },
    },
  },
  {
    when: { providers: ["github-copilot"], models: /claude/ },
    set: { reasoning: { replay: "strip" } },
  },
];
