// Every provider by name, one record each.
import type { ProviderRecord } from "./record.ts";

const MINUTES = 60_000;

/** In the order in which a person is told of them: what works without a key comes first. */
export const PROVIDERS: readonly ProviderRecord[] = [
  {
    id: "offline",
    apis: ["offline"],
    models: [{ id: "offline", contextWindow: 200_000, maxOutputTokens: 4096 }],
  },
  {
    id: "ollama",
    apis: ["openai-completions", "ollama"],
    baseUrl: "http://127.0.0.1:11434/v1",
    policy: "compatible",
  },
  { id: "lmstudio", apis: ["openai-completions"], baseUrl: "http://127.0.0.1:1234/v1" },
  { id: "vllm", apis: ["openai-completions"], baseUrl: "http://127.0.0.1:8000/v1" },
  { id: "llama.cpp", apis: ["openai-completions"], baseUrl: "http://127.0.0.1:8080/v1" },
  {
    id: "sglang",
    apis: ["openai-completions"],
    baseUrl: "http://127.0.0.1:30000/v1",
    policy: "compatible",
  },
  {
    id: "openai",
    // Its third api has an address of its own.
    apis: ["openai-responses", "openai-completions", "openai-chatgpt-responses"],
    baseUrl: "https://api.openai.com/v1",
    needsKey: ["OPENAI_API_KEY"],
    // Also those of a region, such as eu.api.openai.com.
    hosts: ["api.openai.com", ".api.openai.com"],
    flavor: "openai",
    serviceTiers: ["auto", "default", "flex", "priority", "fast", "scale"],
    cacheTtlMs: 5 * MINUTES,
    policy: "openai",
  },
  {
    id: "openai-codex",
    apis: ["openai-chatgpt-responses"],
    baseUrl: "https://chatgpt.com/backend-api/codex",
    needsKey: ["OPENAI_CODEX_TOKEN"],
    hosts: ["chatgpt.com"],
    flavor: "openai",
    policy: "openai",
  },
  {
    id: "azure-openai",
    aliases: ["azure"],
    apis: ["openai-responses", "openai-completions", "azure-openai-responses"],
    addressLike: "https://RESOURCE.openai.azure.com/openai/v1",
    needsKey: ["AZURE_OPENAI_API_KEY"],
    keyIn: "api-key",
    hosts: [".openai.azure.com"],
    flavor: "openai",
    cacheTtlMs: 5 * MINUTES,
    policy: "openai",
  },
  {
    id: "anthropic",
    apis: ["anthropic-messages"],
    baseUrl: "https://api.anthropic.com/v1",
    needsKey: ["ANTHROPIC_API_KEY"],
    hosts: ["api.anthropic.com"],
    serviceTiers: ["auto", "standard_only"],
    cacheTtlMs: 5 * MINUTES,
    policy: "native-messages",
  },
  {
    id: "anthropic-vertex",
    apis: ["anthropic-messages"],
    addressLike:
      "https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION",
    keyIn: "bearer",
    cacheTtlMs: 5 * MINUTES,
    policy: "verified-thinking",
  },
  {
    id: "amazon-bedrock",
    apis: ["bedrock-converse-stream"],
    addressLike: "https://bedrock-runtime.REGION.amazonaws.com",
    needsKey: ["AWS_BEARER_TOKEN_BEDROCK"],
    serviceTiers: ["default", "flex", "priority", "reserved"],
    cacheTtlMs: 5 * MINUTES,
    policy: "verified-thinking",
  },
  {
    id: "cloudflare-ai-gateway",
    apis: ["anthropic-messages", "openai-responses", "openai-completions"],
    addressLike: "https://gateway.ai.cloudflare.com/v1/ACCOUNT/GATEWAY/anthropic/v1",
    needsKey: ["CLOUDFLARE_AI_GATEWAY_API_KEY"],
  },
  {
    id: "google",
    apis: ["google-generative-ai"],
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    needsKey: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    hosts: ["generativelanguage.googleapis.com"],
    serviceTiers: ["standard", "flex", "priority"],
    policy: "native-gemini",
  },
  // The same models behind a server that speaks Chat Completions.
  {
    id: "gemini",
    apis: ["openai-completions"],
    addressLike: "https://generativelanguage.googleapis.com/v1beta/openai",
    needsKey: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  },
  {
    id: "google-vertex",
    apis: ["google-generative-ai"],
    addressLike:
      "https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION",
    policy: "native-gemini",
  },
  {
    id: "google-gemini-cli",
    apis: ["google-gemini-cli"],
    baseUrl: "https://cloudcode-pa.googleapis.com",
    needsKey: ["GOOGLE_GEMINI_CLI_API_KEY"],
    hosts: ["cloudcode-pa.googleapis.com"],
    policy: "native-gemini",
  },
  // Other makers' models in the same envelope; its histories have rules of their own.
  {
    id: "google-antigravity",
    apis: ["google-antigravity", "google-gemini-cli"],
    baseUrl: "https://daily-cloudcode-pa.sandbox.googleapis.com",
    needsKey: ["GOOGLE_ANTIGRAVITY_API_KEY"],
    hosts: ["daily-cloudcode-pa.sandbox.googleapis.com", "daily-cloudcode-pa.googleapis.com"],
  },
  {
    id: "mistral",
    apis: ["mistral-conversations"],
    baseUrl: "https://api.mistral.ai/v1",
    needsKey: ["MISTRAL_API_KEY"],
    hosts: ["api.mistral.ai"],
    serviceTiers: ["auto", "standard_only"],
    policy: "nine-ids",
  },
  {
    id: "openrouter",
    apis: ["openai-completions"],
    baseUrl: "https://openrouter.ai/api/v1",
    needsKey: ["OPENROUTER_API_KEY"],
    hosts: ["openrouter.ai"],
    serviceTiers: ["auto", "default", "flex", "priority", "fast", "scale"],
    policy: "router",
    isRouter: true,
  },
  {
    id: "opencode",
    apis: ["openai-completions", "anthropic-messages"],
    addressLike: "https://opencode.ai/zen/v1",
    needsKey: ["OPENCODE_API_KEY"],
    policy: "passthrough",
  },
  {
    id: "opencode-go",
    apis: ["openai-completions", "anthropic-messages"],
    addressLike: "https://opencode.ai/zen/go/v1",
    needsKey: ["OPENCODE_GO_API_KEY"],
    policy: "passthrough",
  },
  {
    id: "minimax",
    apis: ["anthropic-messages"],
    baseUrl: "https://api.minimax.io/anthropic/v1",
    needsKey: ["MINIMAX_API_KEY"],
    hosts: ["api.minimax.io"],
    policy: "signed-or-compatible",
  },
  {
    id: "minimax-portal",
    apis: ["anthropic-messages"],
    addressLike: "https://api.minimax.io/anthropic/v1",
    policy: "signed-or-compatible",
  },
  {
    id: "xai",
    apis: ["openai-completions", "openai-responses"],
    baseUrl: "https://api.x.ai/v1",
    needsKey: ["XAI_API_KEY"],
    hosts: ["api.x.ai"],
    policy: "compatible",
  },
  {
    id: "groq",
    apis: ["openai-completions"],
    baseUrl: "https://api.groq.com/openai/v1",
    needsKey: ["GROQ_API_KEY"],
    hosts: ["api.groq.com"],
    flavor: "groq",
    serviceTiers: ["auto", "on_demand", "flex", "performance"],
  },
  {
    id: "deepseek",
    apis: ["openai-completions"],
    baseUrl: "https://api.deepseek.com/v1",
    needsKey: ["DEEPSEEK_API_KEY"],
    hosts: ["api.deepseek.com"],
    flavor: "deepseek",
  },
  {
    id: "moonshot",
    aliases: ["kimi"],
    apis: ["openai-completions"],
    baseUrl: "https://api.moonshot.ai/v1",
    needsKey: ["MOONSHOT_API_KEY"],
    hosts: ["api.moonshot.ai", "api.moonshot.cn"],
    flavor: "kimi",
  },
  {
    id: "qwen",
    aliases: ["dashscope"],
    apis: ["openai-completions"],
    baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    needsKey: ["DASHSCOPE_API_KEY", "QWEN_API_KEY"],
    hosts: ["dashscope-intl.aliyuncs.com", "dashscope.aliyuncs.com", "dashscope-us.aliyuncs.com"],
    policy: "compatible",
  },
  {
    id: "zai",
    apis: ["openai-completions"],
    baseUrl: "https://api.z.ai/api/paas/v4",
    needsKey: ["ZAI_API_KEY"],
    hosts: ["api.z.ai"],
  },
  {
    id: "xiaomi",
    apis: ["openai-completions"],
    addressLike: "https://api.xiaomimimo.com/v1",
    needsKey: ["XIAOMI_API_KEY"],
    policy: "compatible",
  },
  {
    id: "novita",
    apis: ["openai-completions"],
    addressLike: "https://api.novita.ai/openai/v1",
    needsKey: ["NOVITA_API_KEY"],
    policy: "compatible",
  },
  {
    id: "github-copilot",
    apis: ["openai-completions", "openai-responses", "anthropic-messages"],
    baseUrl: "https://api.githubcopilot.com",
    needsKey: ["GITHUB_COPILOT_TOKEN"],
    keyIn: "bearer",
    hosts: ["api.githubcopilot.com", ".githubcopilot.com"],
    policy: "unread-thinking",
  },
];

const BY_ID: ReadonlyMap<string, ProviderRecord> = new Map(
  PROVIDERS.flatMap((provider) =>
    [provider.id, ...(provider.aliases ?? [])].map((name) => [name, provider] as const),
  ),
);

/**
 * The record of a provider by its id or an alias, written as the catalogue writes it; undefined
 * when it has none.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { findProvider, providerAt } from "@clew/plugin-sdk/host";
 *
 * assert.deepEqual(findProvider("openai")?.needsKey, ["OPENAI_API_KEY"]);
 * assert.equal(providerAt("https://api.openai.com/v1")?.id, "openai");
 * ```
 */
export const findProvider = (id: string): ProviderRecord | undefined => BY_ID.get(id);

/** The provider whose servers answer at this address; undefined for any other server. */
export function providerAt(url: string): ProviderRecord | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return PROVIDERS.find(({ hosts = [] }) =>
    hosts.some((host) => (host.startsWith(".") ? hostname.endsWith(host) : hostname === host)),
  );
}
