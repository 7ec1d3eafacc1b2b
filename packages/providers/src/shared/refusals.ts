// Tells by a provider's words what exactly it refuses about a request.
import type { ModelError } from "@clew/plugin-sdk/host";

/** Refusals that one change of the request answers. */
export type RefusalKind = Extract<
  ModelError["kind"],
  "signature" | "encrypted_content" | "pairing" | "reasoning_required" | "cache_rejected"
>;

/** Characters of a text that are looked at: an error may echo the request. */
const SCAN_LIMIT = 4000;

/** In this order: a text about one thing may mention those behind it. */
const REFUSALS: readonly (readonly [RefusalKind, readonly RegExp[]])[] = [
  [
    "reasoning_required",
    [
      /reasoning_content\W+(?:in the thinking mode )?must be passed back/i, // DeepSeek
      /reasoning_content is missing/i, // Kimi
      /reasoning details to be preserved/i, // OpenRouter
      /expected `?thinking`? or `?redacted_thinking`?, but found/i, // Anthropic, Bedrock
    ],
  ],
  [
    "encrypted_content",
    [
      /encrypted[_ ]content\b[^\n]*\b(?:verified|decrypted|invalid)/i,
      /\binvalid_encrypted_content\b/i,
      /without its required (?:'reasoning' |following )?item/i,
      /item with id '\w+' not found\. items are not persisted/i,
    ],
  ],
  [
    "signature",
    [
      /invalid `?signature`? in `?(?:redacted_)?thinking`?/i,
      /thinking`? blocks in the latest assistant message cannot be modified/i,
      /(?:thinking|reasoningText)\.signature\b/i,
      /redacted_thinking\.data\b/i,
      /thought[_ ]?signature/i, // Gemini
      /reasoning(?:_content|_details)?'? (?:is|are) (?:unsupported|not (?:supported|permitted))/i, // Groq
      /unknown parameter: 'messages\[\d+\]\.reasoning/i, // OpenAI
    ],
  ],
  [
    "cache_rejected",
    [
      /\bcache_control\b/i,
      /\bcachePoints?\b|\bcache points?\b|did not allow prompt caching/i,
      /\bprompt_cache_\w+/i,
    ],
  ],
  [
    "pairing",
    [
      /`?tool_use`? ids (?:were found without|must be unique)/i, // Anthropic
      /unexpected `?tool_use_id`? found/i,
      /each `?tool_use`? must have a single result/i,
      /tool result's tool id\(.*\) not found|tool call result does not follow/i, // MiniMax
      /no tool output found for function call/i, // Responses
      /no tool call found for function call output/i,
      /'tool_calls' must be followed by tool messages/i, // Chat
      /role 'tool' must be a response to a prece+ding message/i,
      /['"`]?tool_call_id\b.{0,80}? not found/i,
      /number of function response parts/i, // Gemini
      /function (?:call|response) turn comes immediately after/i,
      /expected toolResult blocks at/i, // Bedrock
      /number of toolResult blocks at .* exceeds/i,
      /tool(?:Use|Result) blocks at .* contain duplicate ids/i,
      /not the same number of function calls and responses/i, // Mistral
      /(?:duplicate|unexpected) tool call id/i,
      /unexpected role '\w+' after role 'tool'/i,
    ],
  ],
];

/** Undefined: it says nothing that is known. */
export function refusalKind(text: string): RefusalKind | undefined {
  const said = text.slice(0, SCAN_LIMIT);
  return REFUSALS.find(([, patterns]) => patterns.some((pattern) => pattern.test(said)))?.[0];
}

/** What a host does about each, to end a sentence with. */
export const REFUSAL_ADVICE: Readonly<Record<RefusalKind, string>> = {
  signature: "thinking that it does not take back must be left out",
  encrypted_content: "encrypted parts that it cannot read must be left out",
  pairing: "every tool call needs its one result",
  reasoning_required: "it wants the reasoning behind its tool calls back",
  cache_rejected: "the marks for the prompt cache must be left out",
};

/** What a provider said, in words and codes. */
export interface Told {
  words: string;
  /** Blank: it named none. */
  code: string;
  /** Undefined: it said so inside an answer. */
  status: number | undefined;
}

/** Structured codes of answers that are about what was said. */
const REFUSED_CODES: ReadonlySet<string> = new Set([
  "content_filter",
  "content_policy_violation",
  "ResponsibleAIPolicyViolation",
  "PROHIBITED_CONTENT",
]);
const REFUSED_WORDS =
  /content (?:management |filtering )?policy|content[_ ]filter|flagged (?:for|as)|usage policies|prohibited content|guardrail/i;

/** True when the provider does not want to talk about this. */
export const isContentRefusal = ({ words, code }: Told): boolean =>
  REFUSED_CODES.has(code) || REFUSED_WORDS.test(words.slice(0, SCAN_LIMIT));

const BILLING_CODES: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "billing_hard_limit_reached",
  "billing_error",
  "BILLING_DISABLED",
]);
/** What OpenAI says with a 429 to an account that has nothing left. */
const QUOTA_WORDS = /exceeded your current quota, please check your plan and billing/i;
const BILLING_WORDS =
  /please enable billing|credit balance is too low|insufficient (?:credits?|funds|balance)|payment required/i;

/** True when somebody has to pay first; a 429 in words of billing may only be throttling. */
export const isBilling = (told: Told): boolean =>
  told.status === 402 ||
  BILLING_CODES.has(told.code) ||
  (QUOTA_WORDS.test(told.words.slice(0, SCAN_LIMIT)) && !told.code.startsWith("RESOURCE")) ||
  (told.status !== 429 && BILLING_WORDS.test(told.words.slice(0, SCAN_LIMIT)));

const AUTH_CODES: ReadonlySet<string> = new Set([
  "invalid_api_key",
  "authentication_error",
  "permission_error",
  ...["API_KEY_INVALID", "API_KEY_EXPIRED", "UNAUTHENTICATED", "PERMISSION_DENIED"],
]);
// Google answers 400.
const AUTH_WORDS = /^api key (?:not valid|expired|not found)/i;

/** True when the key does not let the caller in. */
export const isSignIn = (told: Told): boolean =>
  told.status === 401 ||
  told.status === 403 ||
  AUTH_CODES.has(told.code) ||
  AUTH_WORDS.test(told.words);

const NOT_FOUND_CODES: ReadonlySet<string> = new Set(["model_not_found", "not_found_error"]);
const NOT_FOUND_WORDS =
  /\bmodel\b[^\n]{0,120}(?:does not exist|not found|is not a valid model)|not a valid model id|model identifier is invalid/i;

/** True when there is nothing of that name. */
export const isNotFound = (told: Told): boolean =>
  told.status === 404 ||
  NOT_FOUND_CODES.has(told.code) ||
  (told.status === 400 && NOT_FOUND_WORDS.test(told.words.slice(0, SCAN_LIMIT)));

const OVERLOADED_CODES: ReadonlySet<string> = new Set([
  "overloaded_error",
  "server_overloaded",
  "service_unavailable",
  "slow_down",
  "UNAVAILABLE",
]);
const OVERLOADED_WORDS = /\boverloaded\b|at capacity|server is busy/i;

/** True when the provider has too much to do. */
export const isOverloaded = (told: Told): boolean =>
  told.status === 529 ||
  told.status === 503 ||
  OVERLOADED_CODES.has(told.code) ||
  ((told.status === undefined || told.status >= 500) &&
    OVERLOADED_WORDS.test(told.words.slice(0, SCAN_LIMIT)));
