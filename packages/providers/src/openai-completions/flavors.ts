// How the servers that speak Chat Completions differ, as data; and which of them an endpoint is.
import type { Endpoint } from "../provider.ts";

export interface ChatFlavor {
  name: string;
  /** Host names that are this flavor; a leading dot matches subdomains. */
  hosts: readonly string[];
  maxTokensField: "max_tokens" | "max_completion_tokens";
  /** What becomes of earlier thinking: left out, or sent back as `reasoning_content` with every assistant message. */
  thinking: "strip" | "require";
  /** True: consecutive user messages are sent as one, for chat templates that insist on alternation. */
  mergeUserMessages: boolean;
  /** True: reasoning models of this server refuse a temperature. */
  fixedReasoningTemperature: boolean;
  /** True: `prompt_cache_key` is known and routes a session to its warm cache. */
  promptCacheKey: boolean;
}

const COMPATIBLE: ChatFlavor = {
  name: "compatible",
  hosts: [],
  maxTokensField: "max_tokens",
  thinking: "strip",
  mergeUserMessages: false,
  fixedReasoningTemperature: false,
  promptCacheKey: false,
};

/** First match wins; the last one is for every server not known by name (Ollama, LM Studio, vLLM, llama.cpp, …). */
export const CHAT_FLAVORS: readonly ChatFlavor[] = [
  {
    ...COMPATIBLE,
    name: "openai",
    hosts: ["api.openai.com", ".openai.azure.com"],
    maxTokensField: "max_completion_tokens",
    fixedReasoningTemperature: true,
    promptCacheKey: true,
  },
  { ...COMPATIBLE, name: "groq", hosts: ["api.groq.com"], maxTokensField: "max_completion_tokens" },
  { ...COMPATIBLE, name: "deepseek", hosts: ["api.deepseek.com"], thinking: "require" },
  {
    ...COMPATIBLE,
    name: "kimi",
    hosts: ["api.moonshot.ai", "api.moonshot.cn"],
    thinking: "require",
  },
  { ...COMPATIBLE, name: "template", mergeUserMessages: true },
  COMPATIBLE,
];

/** The flavor an endpoint names, else the one its host is known for, else "compatible". */
export function findFlavor(endpoint: Endpoint): ChatFlavor {
  const host = hostOf(endpoint.baseUrl);
  const named = CHAT_FLAVORS.find(({ name }) => name === endpoint.flavor);
  const known = CHAT_FLAVORS.find(({ hosts }) =>
    hosts.some((known) => (known.startsWith(".") ? host.endsWith(known) : host === known)),
  );
  return named ?? known ?? COMPATIBLE;
}

function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
}
