// What is recorded of models that think in plain text and are served by anybody.
import type { ProfileRow } from "../../contract/profile.ts";

const CHAT = ["openai-completions", "ollama"] as const;

// The last part of an id, with or without a colon before or behind it.
const named = (names: string) => new RegExp(`(?:^|/)(?:[^/:]*:)?(?:${names})(?::[^/]*)?$`);

const KIMI = named(
  "kimi-for-coding|kimi-k2\\.[5-9][a-z-]*|kimi-k2-thinking(?:-turbo)?|kimi-k[3-9].*",
);
const MIMO = named("mimo-v2-(?:pro|omni)|mimo-v2\\.5(?:-pro)?|mimo-v2\\.6-pro");
const GLM = named("glm-5\\.[2-9].*|glm-[6-9].*");
const MINIMAX = named("minimax-m[3-9].*");

export const OPEN: readonly ProfileRow[] = [
  // Nobody says that a model thinks without a reason: it gets its thoughts back.
  { when: { apis: CHAT, reasoning: true }, set: { reasoning: { replay: "keep" } } },
  { when: { apis: CHAT, models: MIMO }, set: { reasoning: { replay: "keep" } } },
  { when: { apis: CHAT, models: KIMI }, set: { reasoning: { replay: "require" } } },
  { when: { apis: CHAT, models: GLM }, set: { reasoning: { replay: "keep" } } },
  { when: { apis: CHAT, models: MINIMAX }, set: { reasoning: { replay: "keep" } } },
  {
    when: { providers: ["deepseek"], models: /^deepseek-(?:chat|reasoner)$/ },
    set: { limits: { contextWindow: 128_000 } },
  },
];
