import { describe, expect, it } from "vitest";
import {
  isOverflow,
  isRequestCeiling,
  namedWindow,
  observedTokens,
  promptTokens,
} from "./overflow.ts";
import { FALLBACK_PATTERNS, HINT_PATTERNS, OVERFLOW_PATTERNS } from "./overflow-patterns.ts";

/** What providers say, and the count they state. */
const OVERFLOWS: readonly (readonly [text: string, observed?: number])[] = [
  ["prompt is too long: 213462 tokens > 200000 maximum", 213_462],
  ["request_too_large: Request exceeds the maximum size"],
  [
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens`",
    209_573,
  ],
  ["The model returned the following errors: Input is too long for requested model."],
  ["Your input exceeds the context window of this model. Please adjust your input and try again."],
  ["The input exceeds the model's maximum context length of 131072 tokens"],
  ["Prompt exceeds maximum context length (32768)"],
  [
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    1_196_265,
  ],
  ["This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  ["Please reduce the length of the messages or completion."],
  [
    "This endpoint's maximum context length is 64000 tokens. However, you requested about 70123 tokens.",
    70_123,
  ],
  ["It exceeds the maximum allowed input length of 8192 tokens"],
  ["The input (9001 tokens) is longer than the model's context length (8192 tokens).", 9001],
  ["prompt token count of 99000 exceeds the limit of 64000", 99_000],
  ["Range of input length should be [1, 98304]"],
  ["the request exceeds the available context size, try increasing it"],
  ["context size has been exceeded"],
  ["The number of tokens to keep from the initial prompt is greater than the context length."],
  ["invalid params, context window exceeds limit (2013)"],
  ["Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)", 140_000],
  ["9000 token(s) in request more than max token(s) allowed"],
  ["Prompt exceeds max length"],
  ["Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 40_000],
  ["prompt has 5000 tokens, but the configured context size is 4096 tokens", 5000],
  ["model_context_window_exceeded"],
  ["prompt too long; exceeded max context length by 4 tokens"],
  ["context_length_exceeded"],
  ["too many tokens"],
  ["Token limit exceeded"],
  ["413 status code (no body)"],
  ["context_overflow"],
  ["INVALID_ARGUMENT: the request holds more than the maximum number of tokens"],
  ["Request exceeds the maximum size"],
  ["context length exceeded"],
  ["This is over the maximum context length"],
  ["the prompt too long for me"],
  ["it exceeds model context window"],
  ["above the model token limit"],
  ["The input exceeds by far the maximum number of tokens"],
  ["Codex ran out of room in the model's context window."],
  ["request size exceeds the model's context window"],
  ["Context overflow: prompt too large for the model."],
  ["max_tokens and prompt together exceed the model's context"],
  ["input length and output exceed what the context holds"],
  ["HTTP 413: payload too large"],
  ["context_window_exceeded"],
  ["input length 9000 tokens exceeds the model limit"],
  ["错误：上下文过长"],
  ["请压缩上下文后再试"],
  ["input is too long for this model"],
  ["input is too long for the model"],
  ["Input token count exceeds the maximum number of input tokens allowed"],
  ["ollama error: context length exceeded, too many tokens"],
  ["total tokens of the request exceeds the model's limit"],
  ["request (10240 tokens) exceeds the available context size (8192 tokens)", 10_240],
  ["You requested 9500 tokens in all, over the model's context window", 9500],
  ["your prompt is over what is allowed"],
  ["This input has a length over the allowed one"],
  ["the context would overflow (i.e 5000 + 4000 > 8192)", 9000],
  ["Input exceeds the maximum number of tokens"],
  ["tokens used: 9,001, model maximum context length: 8,192", 9001],
  ["However, your messages resulted in 9,001 tokens: context_length_exceeded", 9001],
];

const OTHERS: readonly string[] = [
  "Throttling error: Too many tokens, please wait before trying again.",
  "Service unavailable: too many tokens in flight",
  "Rate limit reached for requests; context length exceeded",
  "429 too many tokens",
  "You exceeded your current quota, prompt is too long",
  "Limit of tokens per minute (TPM) exceeded: too many tokens",
  "Your credit balance is too low; token limit exceeded",
  "Reasoning is mandatory for this endpoint and cannot be disabled; max tokens",
  "the prompt template exceeds what jinja can do",
  "The context window is too small: the minimum is 4096 tokens",
  "The request was refused: prompt over the line",
  "Invalid 'input[2].call_id': string too long. Expected a string with maximum length 64",
  "Invalid API key",
  "The model `foo` does not exist",
  "max_tokens is too large: 5000. This model supports at most 4096 completion tokens",
  "messages: roles must alternate",
  "",
];

describe("isOverflow", () => {
  it.each(OVERFLOWS.map(([text]) => text))("knows: %s", (text) => {
    expect(isOverflow({ text })).toBe(true);
    expect(isOverflow({ text: text.toUpperCase() })).toBe(true);
  });

  it.each(OTHERS)("takes for something else: %s", (text) => {
    expect(isOverflow({ text })).toBe(false);
  });

  it("has an example for every pattern", () => {
    for (const pattern of [...OVERFLOW_PATTERNS, ...FALLBACK_PATTERNS, ...HINT_PATTERNS])
      expect(
        OVERFLOWS.some(([text]) => pattern.test(text)),
        String(pattern),
      ).toBe(true);
  });

  it("takes 413 for one unless the words tell of throttling", () => {
    expect(isOverflow({ text: "", status: 413 })).toBe(true);
    expect(
      isOverflow({ text: "tokens per minute (TPM): Limit 6000, Requested 9000", status: 413 }),
    ).toBe(false);
  });

  it("looks at no more than the beginning of a long text", () => {
    expect(isOverflow({ text: `${"x".repeat(5000)} context_length_exceeded` })).toBe(false);
  });
});

describe("observedTokens", () => {
  it("reads the count where one is stated, and only there", () => {
    for (const [text, observed] of OVERFLOWS)
      expect([text, observedTokens(text)]).toEqual([text, observed]);
  });
});

describe("promptTokens", () => {
  it.each([
    ["maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens", 9001],
    ["prompt is too long: 213462 tokens > 200000 maximum", 213_462],
    ["you requested 150000 tokens (22000 in the messages, 128000 in the completion).", 22_000],
    ["requested about 70000 tokens (60000 of text input, 10000 in the output).", 60_000],
    ["You requested a total of 140 tokens: 10000 tokens from the input messages", 10_000],
    ["input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", 188_240],
    ["the context would overflow (i.e 5000 + 4000 > 8192)", 5000],
    [
      "maximum context length is 64000 tokens. However, you requested about 70123 tokens.",
      undefined,
    ],
    ["Your request exceeded model token limit: 131072 (requested: 140000)", undefined],
  ])("are told apart from the reply's: %s", (text, tokens) => {
    expect(promptTokens(text)).toBe(tokens);
  });
});

describe("namedWindow", () => {
  it.each([
    ["prompt is too long: 213462 tokens > 200000 maximum", 200_000],
    ["input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", 200_000],
    ["The input exceeds the model's maximum context length of 131072 tokens", 131_072],
    ["Prompt exceeds maximum context length (32768)", 32_768],
    [
      "input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
      1_048_575,
    ],
    ["This model's maximum prompt length is 131072 but the request contains 537812.", 131_072],
    ["maximum context length is 64000 tokens. However, you requested about 70123 tokens.", 64_000],
    ["It exceeds the maximum allowed input length of 8192 tokens", 8192],
    ["The input (9001 tokens) is longer than the model's context length (8192 tokens).", 8192],
    ["prompt token count of 99000 exceeds the limit of 64000", 64_000],
    ["Your request exceeded model token limit: 131072 (requested: 140000)", 131_072],
    ["Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768],
    ["prompt has 5000 tokens, but the configured context size is 4096 tokens", 4096],
    ["the context would overflow (i.e 5000 + 4000 > 8192)", 8192],
    ["the model is loaded with context length of only 32768 tokens, which is not enough", 32_768],
    ["is greater than the context length (n_keep: 10247 >= n_ctx: 4096)", 4096],
    ["However, the model's context length is only 65536 tokens", 65_536],
    ["`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens", 4096],
    ["Range of input length should be [1, 98304]", 98_304],
    ["too many tokens: total tokens cannot exceed 132000 tokens; received 140000", 132_000],
    ["tokens used: 9,001, model maximum context length: 8,192", 8192],
  ])("reads it in %s", (text, tokens) => {
    expect(namedWindow(text)).toBe(tokens);
  });

  it.each([
    "invalid params, context window exceeds limit (2013)",
    "prompt too long; exceeded max context length by 4 tokens",
    "maximum context length is 12 tokens",
    // What was asked for fits: then this is not what was wrong.
    "maximum context length is 64000 tokens. However, you requested about 900 tokens.",
    "context_length_exceeded",
  ])("does not take another number for it: %s", (text) => {
    expect(namedWindow(text)).toBeUndefined();
  });
});

describe("isRequestCeiling", () => {
  it("tells an account's ceiling from throttling that passes", () => {
    const says = (limit: string, requested: string) =>
      `Request too large for m on tokens per min (TPM): Limit ${limit}, Requested ${requested}. Visit the site.`;
    expect(isRequestCeiling(says("6,000", "9,000"))).toBe(true);
    expect(isRequestCeiling(says("6000", "500"))).toBe(false);
    expect(isRequestCeiling("token limit: 8192 (requested: 9000)")).toBe(false);
  });
});
