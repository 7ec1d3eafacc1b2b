// What a server does with any model it serves, whatever the model's name says.
import type { ProfileRow } from "../../contract/profile.ts";

const CHAT = ["openai-completions", "ollama"] as const;

export const SERVERS: readonly ProfileRow[] = [
  // These refuse message fields that they do not know.
  {
    when: { providers: ["openai", "azure-openai", "groq", "mistral"], apis: CHAT },
    set: { reasoning: { replay: "strip" } },
  },
  // Nobody reported what these do with thoughts, only that they take a history without any.
  {
    when: { providers: ["gemini", "github-copilot"], apis: CHAT },
    set: { reasoning: { replay: "strip" } },
  },
  {
    when: { providers: ["deepseek", "moonshot"], apis: CHAT },
    set: { reasoning: { replay: "require", carrier: "reasoning_content" } },
  },
  {
    when: { providers: ["xiaomi", "novita", "sglang", "zai"], apis: CHAT },
    set: { reasoning: { replay: "keep", carrier: "reasoning_content" } },
  },
  {
    when: { providers: ["xai", "ollama", "minimax", "minimax-portal"], apis: CHAT },
    set: { reasoning: { replay: "tools" } },
  },
  {
    when: { providers: ["openrouter", "opencode", "opencode-go"], apis: CHAT },
    set: { reasoning: { replay: "keep", carrier: "reasoning_details" } },
  },
  // A router keeps what Gemini models thought in one form, and wants it back from each of them.
  {
    when: { providers: ["openrouter"], apis: CHAT, models: /^(?:openrouter\/)?google\/gemini/ },
    set: {
      reasoning: {
        reads: { providers: [], models: "^(?:openrouter/)?google/gemini", sameAccount: false },
      },
    },
  },
  // A router passes marks on to makers that take them.
  {
    when: {
      providers: ["openrouter"],
      apis: CHAT,
      models: /^(?:openrouter\/)?(?:anthropic|google)\//,
    },
    set: { cache: { how: "marks", marks: 4, shortMs: 300_000 } },
  },
  {
    when: { providers: ["openrouter"], apis: CHAT, models: /^(?:openrouter\/)?anthropic\// },
    set: { cache: { longMs: 3_600_000 } },
  },
  { when: { providers: ["ollama"], apis: CHAT }, set: { reasoning: { carrier: "reasoning" } } },
  // From 0.20 on it reads this field only; earlier ones passed over what they did not know.
  { when: { providers: ["vllm"], apis: CHAT }, set: { reasoning: { carrier: "reasoning" } } },
  // Its own models decide how much they think, and take no budget.
  {
    when: { providers: ["minimax", "minimax-portal"], apis: ["anthropic-messages"] },
    set: { reasoning: { ask: "adaptive" } },
  },
  // A router hands these on to another wire, with its rules for ids.
  {
    when: { apis: ["openai-completions"], models: /^(?:openrouter\/)?anthropic\// },
    set: { calls: { ids: "^[A-Za-z0-9_-]{1,64}$" }, turns: { thinkingForbidsPrefill: true } },
  },
  // From 4.6 on Claude takes no answer to go on with, whether it thinks or not.
  {
    when: {
      apis: ["openai-completions"],
      models: /^(?:openrouter\/)?anthropic\/claude-[a-z]+-(?:4[.-][6-9]|[5-9])/,
    },
    set: { turns: { endsWithAssistant: false } },
  },
];
