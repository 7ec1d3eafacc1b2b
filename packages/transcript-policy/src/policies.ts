// What each provider and wire insists on, as data: the only file that knows their names.
import type { PolicyFlags, ProviderPolicies, ProviderPolicy, Route } from "./policy.ts";

const STRICT_IDS = {
  sanitizeToolCallIds: true,
  toolCallIdMode: "strict",
} as const satisfies PolicyFlags;
const NINE_IDS = {
  sanitizeToolCallIds: true,
  toolCallIdMode: "strict9",
} as const satisfies PolicyFlags;
const BASE64_THOUGHTS = {
  sanitizeThoughtSignatures: { allowBase64Only: true, includeCamelCase: true },
} as const satisfies PolicyFlags;

const COMPLETIONS_TURNS = {
  applyGoogleTurnOrdering: true,
  validateGeminiTurns: true,
  validateAnthropicTurns: true,
} as const satisfies PolicyFlags;

// Claude models that accept their own thinking back; older ones get it removed.
const REPLAYS_THINKING = /fable-5|(?:opus|sonnet|haiku)-4|claude-[5-9]|claude-\d{2}/;

const anthropicByModel = ({ modelId }: Route): PolicyFlags => ({
  sanitizeMode: "full",
  ...STRICT_IDS,
  preserveSignatures: true,
  validateAnthropicTurns: true,
  allowSyntheticToolResults: true,
  dropThinkingBlocks: modelId.includes("claude") && !REPLAYS_THINKING.test(modelId),
});

const nativeAnthropic = (route: Route): PolicyFlags => ({
  ...anthropicByModel(route),
  preserveNativeAnthropicToolUseIds: true,
  verifiesThinkingSignatures: true,
});

const verifiedAnthropic = (route: Route): PolicyFlags => ({
  ...anthropicApi(route),
  verifiesThinkingSignatures: true,
});

const GOOGLE: PolicyFlags = {
  sanitizeMode: "full",
  ...STRICT_IDS,
  ...BASE64_THOUGHTS,
  applyGoogleTurnOrdering: true,
  validateGeminiTurns: true,
  allowSyntheticToolResults: true,
};

/** The same, where the provider is known: its host notes the bootstrap turn in the session. */
const NATIVE_GOOGLE: PolicyFlags = { ...GOOGLE, recordsBootstrap: true };

const passthrough = ({ modelId }: Route): PolicyFlags =>
  modelId.includes("gemini") ? BASE64_THOUGHTS : {};

// OpenRouter names of models that take nine-character ids, after an optional "openrouter/".
const OPENROUTER_NINE =
  /^(?:openrouter\/)?(?:mistralai\/|mistral\/|mistral-|codestral-|devstral-|ministral-|mixtral-|pixtral-|voxtral-)/;

const openrouter = (route: Route): PolicyFlags => ({
  ...passthrough(route),
  ...(OPENROUTER_NINE.test(route.modelId) && NINE_IDS),
});

const openai = ({ modelApi }: Route): PolicyFlags => {
  if (modelApi === "openai-completions") return STRICT_IDS;
  return isResponsesApi(modelApi) ? { allowSyntheticToolResults: true } : {};
};

const compatible =
  (dropReasoningFromHistory: boolean): ProviderPolicy =>
  ({ modelApi }) => {
    if (modelApi === "openai-completions")
      return { ...STRICT_IDS, ...COMPLETIONS_TURNS, dropReasoningFromHistory };
    if (modelApi === "ollama") return { ...COMPLETIONS_TURNS, dropReasoningFromHistory };
    return isResponsesApi(modelApi)
      ? { ...STRICT_IDS, allowSyntheticToolResults: true }
      : undefined;
  };

const hybrid = (route: Route): PolicyFlags | undefined =>
  SIGNED_APIS.has(route.modelApi) ? anthropicByModel(route) : resolve(compatible(true), route);

const copilot = ({ modelId }: Route): PolicyFlags =>
  modelId.includes("claude") ? { dropThinkingBlocks: true, dropAllThinkingBlocks: true } : {};

/** Providers with rules of their own; all others are told by their api. */
export const PROVIDER_POLICIES: ProviderPolicies = {
  anthropic: nativeAnthropic,
  "anthropic-vertex": verifiedAnthropic,
  "amazon-bedrock": verifiedAnthropic,
  minimax: hybrid,
  "minimax-portal": hybrid,
  google: NATIVE_GOOGLE,
  "google-gemini-cli": NATIVE_GOOGLE,
  "google-vertex": NATIVE_GOOGLE,
  openrouter,
  opencode: passthrough,
  "opencode-go": passthrough,
  openai,
  "azure-openai": openai,
  xai: compatible(true),
  ollama: compatible(true),
  xiaomi: compatible(false),
  novita: compatible(false),
  sglang: compatible(false),
  mistral: NINE_IDS,
  "github-copilot": copilot,
};

// Models that need their reasoning back although nobody marked them as reasoning models.
const REASONING_MODELS: ReadonlySet<string> = new Set([
  "kimi-for-coding",
  "kimi-k2.5",
  "kimi-k2.6",
  "kimi-k2.7-code",
  "kimi-k2-thinking",
  "kimi-k2-thinking-turbo",
  "mimo-v2-pro",
  "mimo-v2-omni",
  "mimo-v2.5",
  "mimo-v2.5-pro",
  "mimo-v2.6-pro",
]);

const CLAUDE_AS_A_WORD = /(?:^|[./:_-])claude(?:[./:_-]|$)/;

function replaysReasoning({ modelId, model }: Route): boolean {
  const name = modelId.split("/").at(-1) ?? "";
  const colon = name.indexOf(":");
  const parts = colon < 0 ? [name] : [name, name.slice(0, colon), name.slice(colon + 1)];
  return model?.reasoning === true || parts.some((part) => REASONING_MODELS.has(part));
}

const anthropicApi = (route: Route): PolicyFlags => ({
  ...anthropicByModel(route),
  ...(route.model?.compat?.supportsReasoningEffort === false && { dropThinkingBlocks: true }),
});

const responsesApi = ({ modelId }: Route): PolicyFlags => ({
  ...STRICT_IDS,
  allowSyntheticToolResults: true,
  validateAnthropicTurns: CLAUDE_AS_A_WORD.test(modelId),
});

/** What an api insists on when its provider has no rules of its own. */
export const API_POLICIES: ProviderPolicies = {
  "google-generative-ai": GOOGLE,
  "google-gemini-cli": GOOGLE,
  "google-antigravity": GOOGLE,
  "anthropic-messages": anthropicApi,
  "bedrock-converse-stream": anthropicApi,
  "openai-completions": (route) => ({
    ...STRICT_IDS,
    ...COMPLETIONS_TURNS,
    dropReasoningFromHistory: !replaysReasoning(route),
  }),
  "openai-responses": responsesApi,
  "openai-chatgpt-responses": responsesApi,
  "azure-openai-responses": responsesApi,
};

const NINE_MODELS = /mistral|mixtral|codestral|pixtral|devstral|ministral/;
const ANTIGRAVITY = "google-antigravity";
const OWN_ROUTER: ReadonlySet<string> = new Set(["openai", "azure-openai"]);

/** Laid over provider and api: what a model's name alone decides. */
export function policyByModel({ provider, modelApi, modelId }: Route): PolicyFlags {
  const antigravity =
    (provider === ANTIGRAVITY || modelApi === ANTIGRAVITY) && modelId.includes("claude");
  return {
    ...(!OWN_ROUTER.has(provider) && NINE_MODELS.test(modelId) && NINE_IDS),
    ...(antigravity && { normalizeAntigravityThinkingBlocks: true, preserveSignatures: true }),
  };
}

const SIGNED_APIS: ReadonlySet<string> = new Set(["anthropic-messages", "bedrock-converse-stream"]);
const RESPONSES_APIS: ReadonlySet<string> = new Set([
  "openai-responses",
  "openai-chatgpt-responses",
  "azure-openai-responses",
]);

/** An api whose thinking blocks carry a signature that is bound to the history before them. */
export const isSignedThinkingApi = (modelApi: string): boolean => SIGNED_APIS.has(modelApi);

/** An api of the Responses family: reasoning items, `call_*|fc_*` ids, results named "aborted". */
export const isResponsesApi = (modelApi: string): boolean => RESPONSES_APIS.has(modelApi);

/** The flags of one policy for one route. */
export const resolve = (policy: ProviderPolicy, route: Route): PolicyFlags | undefined =>
  typeof policy === "function" ? policy(route) : policy;

/** Assistant messages a host wrote as copies of what it delivered: never part of a replayed history. */
export const MIRRORS = {
  provider: "openclaw",
  models: ["delivery-mirror", "gateway-injected"],
} as const;

/** The model a Chat request goes to, as far as its route is known. */
export interface RoutedModel {
  provider?: string;
  api?: string;
  id?: string;
  baseUrl?: string;
}

const MESSAGES_MODEL = /^(?:openrouter\/)?anthropic\//i;
const ROUTER_URL = /^https:\/\/openrouter\.ai(?::443)?\/api\/v1\/*$/i;

/** True when a router certainly passes this Chat request on to a Messages model, which takes no prefill while it thinks. */
export function isRoutedToMessages({
  provider = "",
  api = "openai-completions",
  id = "",
  baseUrl = "",
}: RoutedModel): boolean {
  const url = baseUrl.trim();
  const isRouter =
    url === "" ? provider.trim().toLowerCase() === "openrouter" : ROUTER_URL.test(url);
  return api === "openai-completions" && MESSAGES_MODEL.test(id) && isRouter;
}

/** Which calls of a stored turn need a result in the file itself: all, those whose text was delivered, or none. */
export function needsStoredResults({
  provider,
  api,
}: {
  readonly provider?: unknown;
  readonly api?: unknown;
}): "all" | "delivered" | "none" {
  if (provider === "openai" && api === "openai-chatgpt-responses") return "all";
  return typeof api === "string" && isResponsesApi(api) ? "delivered" : "none";
}
