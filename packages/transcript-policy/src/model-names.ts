// What a model's name alone tells of the model.

// Generations 1 to 3, as vendors and routers write them; what came later is not here.
const OLD_CLAUDE = /claude-(?:v?[123](?!\d)|instant)|(?:opus|sonnet|haiku)-[123](?!\d)/;
const CLAUDE_AS_A_WORD = /(?:^|[./:_-])claude(?:[./:_-]|$)/;
const MISTRAL = /mistral|mixtral|codestral|pixtral|devstral|ministral/;
// How routers name models of the same maker, after an optional "openrouter/".
const ROUTED_MISTRAL =
  /^(?:openrouter\/)?(?:mistralai\/|mistral\/|mistral-|codestral-|devstral-|ministral-|mixtral-|pixtral-|voxtral-)/;
const ROUTED_MESSAGES_MODEL = /^(?:openrouter\/)?anthropic\//;

/** Models that need their reasoning back although nobody marked them as reasoning models. */
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

/** A model that signs its thinking and reads it back. */
export const isClaude = (modelId: string): boolean => modelId.includes("claude");

/** The same, as a whole word of the name. */
export const namesClaude = (modelId: string): boolean => CLAUDE_AS_A_WORD.test(modelId);

/** A Claude too old to accept its own thinking back. */
export const refusesOwnThinking = (modelId: string): boolean =>
  isClaude(modelId) && OLD_CLAUDE.test(modelId);

/** A model whose thoughts are signed with base64. */
export const isGemini = (modelId: string): boolean => modelId.includes("gemini");

/** A model that takes nine-character ids, wherever it is served. */
export const takesNineIds = (modelId: string): boolean => MISTRAL.test(modelId);

/** A model a router hands to a server that takes nine-character ids. */
export const isRoutedToNineIds = (modelId: string): boolean => ROUTED_MISTRAL.test(modelId);

/** A model a router hands to a Messages server. */
export const isRoutedToMessages = (modelId: string): boolean => ROUTED_MESSAGES_MODEL.test(modelId);

/** A model that must see its own reasoning again. */
export function needsReasoningBack(modelId: string): boolean {
  const name = modelId.split("/").at(-1) ?? "";
  const colon = name.indexOf(":");
  const parts = colon < 0 ? [name] : [name, name.slice(0, colon), name.slice(colon + 1)];
  return parts.some((part) => REASONING_MODELS.has(part));
}
