// How the servers that speak Chat Completions differ.
import type { ChatFlavorName } from "@clew/plugin-sdk/host";
import type { Endpoint } from "../provider.ts";
import { serverAt } from "../shared/flavor.ts";

/** One dialect. */
export interface ChatFlavor {
  maxTokensField: "max_tokens" | "max_completion_tokens";
  /** True: user messages in a row are sent as one, for chat templates that must alternate. */
  mergeUserMessages: boolean;
  /** True: reasoning models of this server refuse a temperature. */
  fixedReasoningTemperature: boolean;
  /** True: `prompt_cache_key` is known and routes a session to its warm cache. */
  promptCacheKey: boolean;
}

/** Every server not known by name: Ollama, LM Studio, vLLM, llama.cpp and others. */
const COMPATIBLE: ChatFlavor = {
  maxTokensField: "max_tokens",
  mergeUserMessages: false,
  fixedReasoningTemperature: false,
  promptCacheKey: false,
};

/** By the name a provider's record or an endpoint gives it. */
export const CHAT_FLAVORS: Readonly<Record<ChatFlavorName, ChatFlavor>> = {
  compatible: COMPATIBLE,
  openai: {
    ...COMPATIBLE,
    maxTokensField: "max_completion_tokens",
    fixedReasoningTemperature: true,
    promptCacheKey: true,
  },
  groq: { ...COMPATIBLE, maxTokensField: "max_completion_tokens" },
  deepseek: COMPATIBLE,
  kimi: COMPATIBLE,
  template: { ...COMPATIBLE, mergeUserMessages: true },
};

/** The flavor an endpoint names, else that of the provider it is, else "compatible". */
export function findFlavor(endpoint: Pick<Endpoint, "flavor" | "baseUrl">): ChatFlavor {
  const { flavor } = endpoint;
  if (isChatFlavor(flavor)) return CHAT_FLAVORS[flavor];
  return CHAT_FLAVORS[serverAt(endpoint)?.flavor ?? "compatible"];
}

const isChatFlavor = (name: string | undefined): name is ChatFlavorName =>
  name !== undefined && Object.hasOwn(CHAT_FLAVORS, name);
