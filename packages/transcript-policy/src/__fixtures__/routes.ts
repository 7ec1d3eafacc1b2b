// Which flags each route must get, one row per route.
import type { ModelTraits, Route } from "../route.ts";
import { resolveTranscriptPolicy } from "../select.ts";
import { wireRules } from "../wires.ts";

/** A route and its flags in shorthand: mode, ids, then the names of the flags that are on. */
export type Row = readonly [
  provider: string,
  modelApi: string,
  modelId: string,
  flags: string,
  model?: ModelTraits,
];

const CHAT = "openai-completions";
const SIGNED = "keepSig anthropic synth repair";
const OLD = "keepSig dropThink anthropic synth repair";
const GEMINI = "full strict b64 bootstrap gemini synth repair";
const TURNS = "bootstrap gemini anthropic repair";

/**
 * Every provider with a policy stands here once per api it speaks, at least: each row is a test of
 * its flags, and each distinct one is tried with random histories.
 */
export const ROWS: readonly Row[] = [
  ["anthropic", "anthropic-messages", "claude-opus-4-6", `full strict+toolu ${SIGNED}`],
  [" Anthropic ", "anthropic-messages", "Claude-3-7-Sonnet", `full strict+toolu ${OLD}`],
  ["anthropic", "anthropic-messages", "claude-12-haiku", `full strict+toolu ${SIGNED}`],
  ["anthropic", "anthropic-messages", "claude-opus-5", `full strict+toolu ${SIGNED}`],
  ["anthropic-vertex", "anthropic-messages", "claude-opus-4-6", `full strict ${SIGNED}`],
  [
    "amazon-bedrock",
    "bedrock-converse-stream",
    "anthropic.claude-sonnet-4-6",
    `full strict ${SIGNED}`,
  ],
  [
    "amazon-bedrock",
    "bedrock-converse-stream",
    "anthropic.claude-3-5-sonnet",
    `full strict ${OLD}`,
  ],
  ["amazon-bedrock", "bedrock-converse-stream", "amazon.nova-pro", `full strict ${SIGNED}`],
  ["minimax", "anthropic-messages", "MiniMax-M3", `full strict ${SIGNED}`],
  ["minimax", CHAT, "MiniMax-M3", `img strict dropReason ${TURNS}`],
  ["minimax-portal", "anthropic-messages", "MiniMax-M3", `full strict ${SIGNED}`],
  ["minimax-portal", CHAT, "MiniMax-M3", `img strict dropReason ${TURNS}`],
  ["proxy-x", "anthropic-messages", "claude-opus-4-6", `full strict ${SIGNED}`],
  [
    "proxy-x",
    "anthropic-messages",
    "glm",
    `full strict ${OLD}`,
    { compat: { supportsReasoningEffort: false } },
  ],
  ["cloudflare-ai-gateway", "anthropic-messages", "claude-opus-4-6", `full strict ${SIGNED}`],
  ["google", "google-generative-ai", "gemini-3-pro", GEMINI],
  ["google-gemini-cli", "google-gemini-cli", "gemini-3-pro", GEMINI],
  ["google-vertex", "google-generative-ai", "gemini-3-pro", GEMINI],
  ["proxy-x", "google-generative-ai", "x", GEMINI],
  [
    "google-antigravity",
    "google-antigravity",
    "claude-opus-4-6",
    "full strict b64 keepSig bootstrap gemini synth repair",
  ],
  ["openai", "openai-responses", "gpt-5.5", "img - synth repair"],
  ["openai", "openai-chatgpt-responses", "gpt-5.5-codex", "img - synth repair"],
  ["openai", CHAT, "gpt-4.1", "img strict repair"],
  ["openai-codex", "openai-chatgpt-responses", "gpt-5.5-codex", "img - synth repair"],
  ["azure-openai", "azure-openai-responses", "gpt-5.5", "img - synth repair"],
  ["azure-openai", "openai-responses", "gpt-5.5", "img - synth repair"],
  ["azure-openai", CHAT, "gpt-5.5", "img strict repair"],
  ["qwen", CHAT, "qwen3-max", `img strict dropReason ${TURNS}`],
  ["proxy-x", "openai-responses", "gpt", "img strict synth repair"],
  ["proxy-x", "openai-responses", "anthropic/claude-x", "img strict anthropic synth repair"],
  ["proxy-x", "openai-responses", "claudette-1", "img strict synth repair"],
  ["proxy-x", CHAT, "qwen", `img strict dropReason ${TURNS}`],
  ["proxy-x", CHAT, "qwen", `img strict ${TURNS}`, { reasoning: true }],
  ["proxy-x", CHAT, "moonshotai/kimi-k2.6:free", `img strict ${TURNS}`],
  ["mistral", "mistral-conversations", "any", "img strict9 repair"],
  ["mistral", CHAT, "mistral-large", "img strict9 repair"],
  ["openrouter", CHAT, "google/gemini-3", "img - b64 repair"],
  ["openrouter", CHAT, "mistralai/x", "img strict9 repair"],
  ["openrouter", CHAT, "openrouter/voxtral-1", "img strict9 repair"],
  ["openrouter", CHAT, "anthropic/claude-opus-4.6", "img - repair"],
  ["opencode", CHAT, "gemini-3", "img - b64 repair"],
  ["opencode", "anthropic-messages", "claude-opus-4-6", "img - repair"],
  ["opencode-go", CHAT, "gemini-3", "img - b64 repair"],
  ["opencode-go", "anthropic-messages", "claude-opus-4-6", "img - repair"],
  ["xai", "openai-responses", "grok", "img strict synth repair"],
  ["xai", CHAT, "grok", `img strict dropReason ${TURNS}`],
  ["xiaomi", CHAT, "mimo", `img strict ${TURNS}`],
  ["novita", CHAT, "x", `img strict ${TURNS}`],
  ["sglang", CHAT, "x", `img strict ${TURNS}`],
  ["vllm", CHAT, "x", `img strict dropReason ${TURNS}`],
  ["lmstudio", CHAT, "x", `img strict dropReason ${TURNS}`],
  ["ollama", "ollama", "llama", `img - dropReason ${TURNS}`],
  ["ollama", CHAT, "llama", `img strict dropReason ${TURNS}`],
  ["github-copilot", CHAT, "gpt-5", "img - repair"],
  ["github-copilot", "anthropic-messages", "claude-opus-4-6", "img - dropThink repair"],
  ["github-copilot", "openai-responses", "gpt-5", "img - repair"],
  ["some-host", "some-api", "x", "img - repair"],
];

export const routeOf = ([provider, modelApi, modelId, , model]: Row): Route => ({
  provider,
  modelApi,
  modelId,
  ...(model && { model }),
});

/** One route for each distinct pair of policy and wire. */
export const DISTINCT_ROUTES: readonly Route[] = [
  ...new Map(
    ROWS.map(routeOf).map((route) => [
      JSON.stringify([
        resolveTranscriptPolicy(route),
        String(wireRules(route).ids),
        route.modelApi,
      ]),
      route,
    ]),
  ).values(),
];

export const nameOf = ({ provider, modelApi, modelId }: Route): string =>
  `${provider} / ${modelApi} / ${modelId}`;
