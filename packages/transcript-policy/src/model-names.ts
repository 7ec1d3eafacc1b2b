// What a model's name alone tells of the model.

const CLAUDE_AS_A_WORD = /(?:^|[./:_-])claude(?:[./:_-]|$)/;
const MISTRAL = /mistral|mixtral|codestral|pixtral|devstral|ministral/;
// How routers name models of the same maker, after an optional "openrouter/".
const ROUTED_MISTRAL =
  /^(?:openrouter\/)?(?:mistralai\/|mistral\/|mistral-|codestral-|devstral-|ministral-|mixtral-|pixtral-|voxtral-)/;
const ROUTED_MESSAGES_MODEL = /^(?:openrouter\/)?anthropic\//;

/** A model that signs its thinking and reads it back. */
export const isClaude = (modelId: string): boolean => modelId.includes("claude");

/** The same, as a whole word of the name. */
export const namesClaude = (modelId: string): boolean => CLAUDE_AS_A_WORD.test(modelId);

/** A model whose thoughts are signed with base64. */
export const isGemini = (modelId: string): boolean => modelId.includes("gemini");

/** A model that takes nine-character ids, wherever it is served. */
export const takesNineIds = (modelId: string): boolean => MISTRAL.test(modelId);

/** A model a router hands to a server that takes nine-character ids. */
export const isRoutedToNineIds = (modelId: string): boolean => ROUTED_MISTRAL.test(modelId);

/** A model a router hands to a Messages server. */
export const isRoutedToMessages = (modelId: string): boolean => ROUTED_MESSAGES_MODEL.test(modelId);
