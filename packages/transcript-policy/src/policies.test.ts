import { describe, expect, it } from "vitest";
import type { ModelTraits, PolicyFlags } from "./policy.ts";
import { deriveFlags, resolveTranscriptPolicy } from "./select.ts";

const policyOf = (provider: string, modelApi: string, modelId: string, model?: ModelTraits) =>
  resolveTranscriptPolicy({ provider, modelApi, modelId, ...(model && { model }) });

/** One row of the table in shorthand: mode, ids, then the names of the flags that are on. */
function shorthand(flags: ReturnType<typeof policyOf>): string {
  const {
    sanitizeMode,
    sanitizeToolCallIds,
    toolCallIdMode,
    preserveNativeAnthropicToolUseIds,
    sanitizeThoughtSignatures,
  } = flags;
  const ids = sanitizeToolCallIds
    ? `${toolCallIdMode}${preserveNativeAnthropicToolUseIds ? "+toolu" : ""}`
    : "-";
  const columns: [keyof PolicyFlags, string][] = [
    ["preserveSignatures", "keepSig"],
    ["dropThinkingBlocks", "dropThink"],
    ["dropReasoningFromHistory", "dropReason"],
    ["applyGoogleTurnOrdering", "bootstrap"],
    ["validateGeminiTurns", "gemini"],
    ["validateAnthropicTurns", "anthropic"],
    ["allowSyntheticToolResults", "synth"],
    ["repairToolUseResultPairing", "repair"],
  ];
  const on = columns.filter(([flag]) => flags[flag]).map(([, name]) => name);
  return [
    sanitizeMode === "full" ? "full" : "img",
    ids,
    ...(sanitizeThoughtSignatures ? ["b64"] : []),
    ...on,
  ].join(" ");
}

const SIGNED = "keepSig anthropic synth repair";
const OLD = "keepSig dropThink anthropic synth repair";
const GOOGLE = "full strict b64 bootstrap gemini synth repair";
const TURNS = "bootstrap gemini anthropic repair";
const TABLE: [string, string, string, string, ModelTraits?][] = [
  ["anthropic", "anthropic-messages", "claude-opus-4-6", `full strict+toolu ${SIGNED}`],
  [" Anthropic ", "anthropic-messages", "Claude-3-7-Sonnet", `full strict+toolu ${OLD}`],
  ["anthropic", "anthropic-messages", "claude-12-haiku", `full strict+toolu ${SIGNED}`],
  ["anthropic", "anthropic-messages", "claude-opus-5", `full strict+toolu ${OLD}`],
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
  ["minimax", "openai-completions", "MiniMax-M3", `img strict dropReason ${TURNS}`],
  ["minimax-portal", "openai-completions", "MiniMax-M3", `img strict dropReason ${TURNS}`],
  ["proxy-x", "anthropic-messages", "claude-opus-4-6", `full strict ${SIGNED}`],
  [
    "proxy-x",
    "anthropic-messages",
    "glm",
    `full strict ${OLD}`,
    { compat: { supportsReasoningEffort: false } },
  ],
  ["cloudflare-ai-gateway", "anthropic-messages", "claude-opus-4-6", `full strict ${SIGNED}`],
  ["google", "google-generative-ai", "gemini-3-pro", GOOGLE],
  ["google-gemini-cli", "google-gemini-cli", "gemini-3-pro", GOOGLE],
  ["google-vertex", "google-generative-ai", "gemini-3-pro", GOOGLE],
  ["proxy-x", "google-generative-ai", "x", GOOGLE],
  ["openai", "openai-responses", "gpt-5.5", "img - synth repair"],
  ["openai", "openai-chatgpt-responses", "gpt-5.5-codex", "img - synth repair"],
  ["openai", "openai-completions", "gpt-4.1", "img strict repair"],
  ["azure-openai", "azure-openai-responses", "gpt-5.5", "img - synth repair"],
  ["proxy-x", "openai-responses", "gpt", "img strict synth repair"],
  ["proxy-x", "openai-responses", "anthropic/claude-x", "img strict anthropic synth repair"],
  ["proxy-x", "openai-responses", "claudette-1", "img strict synth repair"],
  ["proxy-x", "openai-completions", "qwen", `img strict dropReason ${TURNS}`],
  ["proxy-x", "openai-completions", "qwen", `img strict ${TURNS}`, { reasoning: true }],
  ["proxy-x", "openai-completions", "moonshotai/kimi-k2.6:free", `img strict ${TURNS}`],
  ["mistral", "mistral-conversations", "any", "img strict9 repair"],
  ["openrouter", "openai-completions", "google/gemini-3", "img - b64 repair"],
  ["openrouter", "openai-completions", "mistralai/x", "img strict9 repair"],
  ["openrouter", "openai-completions", "openrouter/voxtral-1", "img strict9 repair"],
  ["openrouter", "openai-completions", "anthropic/claude", "img - repair"],
  ["opencode", "openai-completions", "gemini-3", "img - b64 repair"],
  ["opencode", "anthropic-messages", "claude-opus-4-6", "img - repair"],
  ["xai", "openai-responses", "grok", "img strict synth repair"],
  ["xai", "openai-completions", "grok", `img strict dropReason ${TURNS}`],
  ["xiaomi", "openai-completions", "mimo", `img strict ${TURNS}`],
  ["novita", "openai-completions", "x", `img strict ${TURNS}`],
  ["sglang", "openai-completions", "x", `img strict ${TURNS}`],
  ["vllm", "openai-completions", "x", `img strict dropReason ${TURNS}`],
  ["lmstudio", "openai-completions", "x", `img strict dropReason ${TURNS}`],
  ["ollama", "ollama", "llama", `img - dropReason ${TURNS}`],
  ["ollama", "openai-completions", "llama", `img strict dropReason ${TURNS}`],
  ["github-copilot", "anthropic-messages", "claude-opus-4-6", "img - dropThink repair"],
  ["github-copilot", "openai-responses", "gpt-5", "img - repair"],
  ["some-host", "some-api", "x", "img - repair"],
];

describe("the provider table", () => {
  it.each(TABLE)("%s by %s to %s: %s", (provider, api, model, row, traits) => {
    expect(shorthand(policyOf(provider, api, model, traits))).toBe(row);
  });

  it("gives nine-character ids to a Mistral model of any provider but OpenAI's", () => {
    expect(policyOf("ollama", "openai-completions", "mixtral-8x7b").toolCallIdMode).toBe("strict9");
    expect(policyOf("openai", "openai-completions", "mistral-tuned").toolCallIdMode).toBe("strict");
  });

  it("normalises the thinking of Claude behind Antigravity, and of nobody else there", () => {
    expect(policyOf("google-antigravity", "google-antigravity", "claude-opus-4-6")).toMatchObject({
      normalizeAntigravityThinkingBlocks: true,
      preserveSignatures: true,
    });
    expect(
      policyOf("google-antigravity", "google-antigravity", "gemini-3")
        .normalizeAntigravityThinkingBlocks,
    ).toBe(false);
  });

  it("lets a host add a provider and override one of ours", () => {
    const route = { modelApi: "openai-completions", modelId: "x" };
    const policies = {
      acme: { toolCallIdMode: "strict9" as const },
      mistral: () => ({ validateGeminiTurns: true }),
    };
    expect(resolveTranscriptPolicy({ ...route, provider: "acme", policies })).toMatchObject({
      toolCallIdMode: "strict9",
      applyGoogleTurnOrdering: true,
    });
    expect(resolveTranscriptPolicy({ ...route, provider: "mistral", policies })).toMatchObject({
      toolCallIdMode: "strict9",
      validateGeminiTurns: true,
    });
  });

  it("is not fooled by a provider named like a property of every object", () => {
    expect(policyOf("constructor", "toString", "x")).toEqual(
      policyOf("some-host", "some-api", "x"),
    );
  });

  it("keeps thinking turns whole only where thinking is signed, validated and accepted back", () => {
    const keeps = (provider: string, modelApi: string, modelId: string) =>
      deriveFlags(policyOf(provider, modelApi, modelId), { modelApi }).keepThinkingTurns;
    expect(keeps("anthropic", "anthropic-messages", "claude-opus-4-6")).toBe(true);
    expect(keeps("anthropic", "anthropic-messages", "claude-3-7-sonnet")).toBe(false);
    expect(keeps("opencode", "anthropic-messages", "claude-opus-4-6")).toBe(false);
    expect(keeps("google", "google-generative-ai", "gemini-3")).toBe(false);
  });
});
