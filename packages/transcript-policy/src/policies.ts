// The flags of a transcript policy, and which of them each family sets.
import { findProvider, type PolicyFamily } from "@clew/plugin-sdk/host";
import { isClaude, isGemini, isRoutedToNineIds, namesClaude, takesNineIds } from "./model-names.ts";
import { isResponsesApi, isSignedThinkingApi, profileOf, type Route, wireOf } from "./route.ts";

/** Which tool-call ids are accepted: letters and digits up to 40, or exactly nine of them. */
export type ToolCallIdMode = "strict" | "strict9";

/**
 * Every flag with what holds when neither provider nor api asks for more. The names are those of
 * `openclaw.json` and its plugins, kept so that their policies can be used as they are; where a
 * name says less or more than the flag does, the line above it says what is true.
 */
export const DEFAULT_POLICY = {
  /** Kept for readers of older configurations: both values do the same. */
  sanitizeMode: "images-only" as "images-only" | "full",
  /**
   * Ids are rewritten in the form `toolCallIdMode` names; never on Responses apis, whose pairs of
   * ids have a form of their own.
   */
  sanitizeToolCallIds: false as boolean,
  /** The form of rewritten ids; undefined = none are rewritten. */
  toolCallIdMode: undefined as ToolCallIdMode | undefined,
  /** "openai": the first `call_*` id stays and repeats become fresh `call_*` ids. */
  duplicateToolCallIdStyle: undefined as "openai" | undefined,
  /** The first use of a `toolu_*` id stays as it is. */
  preserveNativeAnthropicToolUseIds: false as boolean,
  /** Every call gets exactly one result, right behind it: nobody unsets it. */
  repairToolUseResultPairing: true as boolean,
  /** Signatures of any kind stay; unsigned thinking goes. */
  preserveSignatures: false as boolean,
  /** Which thought signatures stay; undefined = all but the ids of text items. */
  sanitizeThoughtSignatures: undefined as
    | { allowBase64Only: boolean; includeCamelCase: boolean }
    | undefined,
  /** Kept for readers of older configurations: nobody sets it. */
  sanitizeThinkingSignatures: false as boolean,
  /** Thinking is removed from all but the last assistant message. */
  dropThinkingBlocks: false as boolean,
  /** Thinking is removed from all but a running tool turn. */
  dropReasoningFromHistory: false as boolean,
  /** A history that starts with an assistant gets a user turn in front; not for Gemini only. */
  applyGoogleTurnOrdering: false as boolean,
  /** Assistant messages in a row are merged; not for Gemini only. */
  validateGeminiTurns: false as boolean,
  /**
   * Assistants and users in a row are merged, and calls that no result follows removed; not for
   * Anthropic only: most servers of Chat Completions get it too.
   */
  validateAnthropicTurns: false as boolean,
  /** For a host that guards writes: pending calls get made-up results. No pass reads it. */
  allowSyntheticToolResults: false as boolean,
  /** Thinking without a base64 signature goes; other spellings of the signature are renamed. */
  normalizeAntigravityThinkingBlocks: false as boolean,
  /** Thinking is removed from every assistant message, the last one too. */
  dropAllThinkingBlocks: false as boolean,
  /** The provider checks the signature of thinking, whatever `preserveSignatures` says. */
  verifiesThinkingSignatures: false as boolean,
  /** The host notes once per session that a user turn was put in front. */
  recordsBootstrap: false as boolean,
};

/** What one provider requires of a replayed history. */
export type TranscriptPolicy = typeof DEFAULT_POLICY;

/** The flags in which a provider differs from the defaults. */
export type PolicyFlags = Partial<TranscriptPolicy>;

/**
 * Flags that differ from the defaults; a function when they depend on the route. Undefined = "ask
 * by api instead".
 */
export type ProviderPolicy = PolicyFlags | ((route: Route) => PolicyFlags | undefined);

/** Policies of a host or plugin, by provider id; each is laid over what the catalogue says. */
export type ProviderPolicies = Readonly<Record<string, ProviderPolicy>>;

/** The flags of one policy for one route. */
export const resolve = (policy: ProviderPolicy, route: Route): PolicyFlags | undefined =>
  typeof policy === "function" ? policy(route) : policy;

const STRICT_IDS: PolicyFlags = { sanitizeToolCallIds: true, toolCallIdMode: "strict" };
const NINE_IDS: PolicyFlags = { sanitizeToolCallIds: true, toolCallIdMode: "strict9" };
const BASE64_THOUGHTS: PolicyFlags = {
  sanitizeThoughtSignatures: { allowBase64Only: true, includeCamelCase: true },
};
const PLAIN_TURNS: PolicyFlags = {
  applyGoogleTurnOrdering: true,
  validateGeminiTurns: true,
  validateAnthropicTurns: true,
};

/** True for a model that wants its earlier thinking while a tool turn is running only. */
const forgetsThinking = (route: Route): boolean => profileOf(route).reasoning.replay === "tools";

const signedByModel = (route: Route): PolicyFlags => ({
  sanitizeMode: "full",
  ...STRICT_IDS,
  preserveSignatures: true,
  validateAnthropicTurns: true,
  allowSyntheticToolResults: true,
  dropThinkingBlocks: forgetsThinking(route),
});

const signedThinking = (route: Route): PolicyFlags => ({
  ...signedByModel(route),
  ...(route.model?.compat?.supportsReasoningEffort === false && { dropThinkingBlocks: true }),
});

const GEMINI: PolicyFlags = {
  sanitizeMode: "full",
  ...STRICT_IDS,
  ...BASE64_THOUGHTS,
  applyGoogleTurnOrdering: true,
  validateGeminiTurns: true,
  allowSyntheticToolResults: true,
};

const passthrough = ({ modelId }: Route): PolicyFlags => (isGemini(modelId) ? BASE64_THOUGHTS : {});

const chat = (route: Route): PolicyFlags => ({
  ...STRICT_IDS,
  ...PLAIN_TURNS,
  dropReasoningFromHistory: forgetsThinking(route),
});

function compatible(route: Route): PolicyFlags | undefined {
  const wire = wireOf(route.modelApi);
  if (wire === "chat") return chat(route);
  if (wire === "ollama")
    return { ...PLAIN_TURNS, dropReasoningFromHistory: forgetsThinking(route) };
  return wire === "responses" ? { ...STRICT_IDS, allowSyntheticToolResults: true } : undefined;
}

/** What each family asks for; the provider catalogue says who belongs to which. */
export const FAMILIES: Readonly<Record<PolicyFamily, ProviderPolicy>> = {
  "native-messages": (route) => ({
    ...signedByModel(route),
    preserveNativeAnthropicToolUseIds: true,
    verifiesThinkingSignatures: true,
  }),
  "verified-thinking": (route) => ({ ...signedThinking(route), verifiesThinkingSignatures: true }),
  "signed-thinking": signedThinking,
  "signed-or-compatible": (route) =>
    isSignedThinkingApi(route.modelApi) ? signedByModel(route) : compatible(route),
  "native-gemini": { ...GEMINI, recordsBootstrap: true },
  gemini: GEMINI,
  passthrough,
  router: (route) => ({
    ...passthrough(route),
    ...(isRoutedToNineIds(route.modelId) && NINE_IDS),
  }),
  openai: ({ modelApi }) => {
    if (wireOf(modelApi) === "chat") return STRICT_IDS;
    return isResponsesApi(modelApi) ? { allowSyntheticToolResults: true } : {};
  },
  compatible,
  chat,
  responses: ({ modelId }) => ({
    ...STRICT_IDS,
    allowSyntheticToolResults: true,
    validateAnthropicTurns: namesClaude(modelId),
  }),
  "nine-ids": NINE_IDS,
  "unread-thinking": (route) =>
    isClaude(route.modelId) && profileOf(route).reasoning.replay === "strip"
      ? { dropThinkingBlocks: true, dropAllThinkingBlocks: true }
      : {},
};

/** Laid over the family's flags: what a model's name alone decides. */
export function policyByModel(route: Route, family: PolicyFamily | undefined): PolicyFlags {
  const { modelId } = route;
  return {
    ...(family !== "openai" && takesNineIds(modelId) && NINE_IDS),
    ...(isAntigravity(route) &&
      isClaude(modelId) && { normalizeAntigravityThinkingBlocks: true, preserveSignatures: true }),
  };
}

function isAntigravity({ provider, modelApi }: Route): boolean {
  const usualApi = findProvider(provider)?.apis[0] ?? "";
  return wireOf(modelApi) === "antigravity" || wireOf(usualApi) === "antigravity";
}
