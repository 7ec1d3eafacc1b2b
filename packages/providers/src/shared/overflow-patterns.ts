// The words in which providers say that a request is too large for the model.

/**
 * A text that matches one of these is no overflow, whatever else it says: throttling, accounts,
 * templates, refusals, limits of one field.
 */
export const NEVER_OVERFLOW: readonly RegExp[] = [
  /^(?:throttling error|service unavailable):/i,
  /rate[ _-]?limit/i,
  /too many requests/i,
  /requests per (?:minute|hour|day)/i,
  /quota/i,
  /throttl/i,
  /\b429\b/,
  /tokens[ _]per[ _](?:min(?:ute)?|day)\b/i,
  /\bTPM\b/,
  /billing|payment required|credit balance|insufficient (?:funds|credits?|balance)/i,
  /reasoning is (?:mandatory|required)/i,
  /prompt template/i,
  /context window[^\n]{0,60}(?:too small|minimum is)/i,
  /content[ _]filter|refus(?:ed|al)/i,
  /string too long/i,
];

/** Texts that tell of an overflow by themselves. */
export const OVERFLOW_PATTERNS: readonly RegExp[] = [
  // As a failed reply tells it.
  /prompt is too long/i,
  /request_too_large/i,
  /input length and `?max_tokens`? exceed context limit/i, // Anthropic
  /input is too long for requested model/i, // Bedrock
  /exceeds the context window/i, // OpenAI
  /exceeds (?:the )?(?:model's )?maximum context length(?: of [\d,]+ tokens?| ?\([\d,]+\))/i, // LiteLLM
  /input token count[^\n]*exceeds the maximum/i, // Gemini
  /maximum prompt length is [\d,]+/i, // xAI
  /reduce the length of the messages/i, // Groq
  /maximum context length is [\d,]+ tokens/i, // OpenRouter
  /exceeds (?:the )?maximum allowed input length of [\d,]+ tokens/i,
  /input \([\d,]+ tokens\) is longer than (?:the )?model's context length/i, // Together
  /exceeds the limit of [\d,]+/i, // Copilot
  /range of input length should be \[1, [\d,]+\]/i, // DashScope
  /exceeds the available context size|context size has been exceeded/i, // llama.cpp
  /greater than the context length/i, // LM Studio
  /context window exceeds limit/i, // MiniMax
  /exceeded model token limit/i, // Kimi
  /tokens?(?:\(s\))? in request more than max tokens?(?:\(s\))? allowed/i,
  /prompt exceeds max(?:imum)? length/i,
  /too large for model with [\d,]+ maximum context length/i, // Mistral
  /prompt has [\d,]+ tokens, but the configured context size is [\d,]+ tokens/i,
  /model_context_window_exceeded/i, // z.ai
  /prompt too long; exceeded (?:max )?context length/i, // Ollama
  /context[_ ]length[_ ]exceeded/i,
  /too many tokens/i,
  /token limit exceeded/i,
  /^413\s*(?:status code)?\s*\(no body\)/i,
  // As a thrown error tells it.
  /context_overflow/i,
  /invalid_argument[\s\S]{0,300}maximum number of tokens/i,
  /request exceeds the maximum size/i,
  /maximum context length/i,
  /prompt (?:is )?too long/i,
  /exceeds model context window/i,
  /model token limit/i,
  /input exceeds[^\n]{0,80}maximum number of tokens/i,
  /context window[^\n]{0,80}ran out of (?:room|space)|ran out of (?:room|space)[^\n]{0,80}context window/i,
  /request size exceeds[^\n]{0,80}context window/i,
  /context overflow:/i,
  /exceed context limit/i,
  /exceeds the model's maximum context/i,
  /max_tokens[^\n]{0,120}exceed[^\n]{0,80}context/i,
  /input length[^\n]{0,120}exceed[^\n]{0,80}context/i,
  /413[^\n]{0,80}too large/i,
  /context_window_exceeded/i,
  /input length [\d,]+ tokens exceeds the model limit/i,
  /上下文过长|上下文超出|上下文长度超|超出最大上下文|请压缩上下文/,
];

/** Texts that tell of an overflow only beside a signal word and an action word. */
export const FALLBACK_PATTERNS: readonly RegExp[] = [
  /input token count exceeds the maximum number of input tokens/i,
  /input is too long for this model/i,
  /input exceeds the maximum number of tokens/i,
  /ollama error: context length exceeded(?:, too many tokens)?/i,
  /total tokens[^\n]{0,80}exceeds (?:the )?(?:model's )?(?:max|limit)/i,
  /(?:request|prompt) \([\d,]+ tokens\) exceeds (?:the )?available context size/i,
  /input (?:is )?too long for (?:the )?model/i,
];
export const SIGNAL_WORD = /context|window|prompt|tokens?|input|request|model/i;
export const ACTION_WORD = /too (?:large|long|many)|exceed|overflow|limit|max/i;

/** The loosest words, looked at last. */
export const HINT_PATTERNS: readonly RegExp[] = [
  /context[^\n]{0,60}overflow/i,
  /context window[^\n]{0,60}(?:too (?:large|long)|exceed|\bover\b|limit|\bmax|requested|\bsent\b|tokens)/i,
  /prompt[^\n]{0,60}(?:too (?:large|long)|exceed|\bover\b|limit|\bmax)/i,
  /(?:request|input)[^\n]{0,60}(?:context|window|length|token)[^\n]{0,60}(?:too (?:large|long)|exceed|\bover\b|limit|\bmax)/i,
];

/** Statuses that tell of an overflow when the words do not contradict. */
export const OVERFLOW_STATUSES: readonly number[] = [413];

/**
 * Where a text states how many tokens the provider counted: the first group, or the sum of both.
 */
export const OBSERVED_TOKEN_PATTERNS: readonly RegExp[] = [
  /exceed context limit: ([\d,_]+) \+ ([\d,_]+) >/i,
  /\(i\.e\.? ([\d,_]+) \+ ([\d,_]+) >/i,
  /prompt is too long: ([\d,_]+) tokens/i,
  /: ([\d,_]+),? model maximum context length/i,
  /requested:? (?:about )?([\d,_]+) tokens/i,
  /\(requested: ([\d,_]+)\)/i,
  /resulted in ([\d,_]+) tokens/i,
  /(?:input|prompt|request) \(([\d,_]+) tokens\)/i,
  /prompt (?:has|contains) ([\d,_]+) tokens/i,
  /(?:prompt|input) token count(?: of| is)? \(?([\d,_]+)/i,
];

/** Where it states the prompt apart from the reply that was asked for. */
export const PROMPT_TOKEN_PATTERNS: readonly RegExp[] = [
  /([\d,_]+) (?:tokens )?(?:in|from|of) (?:your prompt|text input|the (?:input|messages|prompt))/i,
  /exceed context limit: ([\d,_]+) \+ [\d,_]+ >/i,
  /\(i\.e\.? ([\d,_]+) \+ [\d,_]+ >/i,
];

/** A count beside these words may hold the reply that was asked for. */
export const REPLY_WORDS =
  /completion|max(?:imum)?[_ ](?:new_|output |output_)?tokens|\boutput\b|\brequested\b/i;

/** Where an overflow's text states how much the model holds. */
export const WINDOW_PATTERNS: readonly RegExp[] = [
  /exceed context limit: [\d,_]+ \+ [\d,_]+ > ([\d,_]+)/i,
  /\(i\.e\.? [\d,_]+ \+ [\d,_]+ > ([\d,_]+)/i,
  /prompt is too long: [\d,_]+ tokens > ([\d,_]+)/i,
  /maximum context length(?: of| is|:)? \(?([\d,_]+)/i,
  /([\d,_]+) maximum context length/i,
  /maximum number of tokens allowed \(([\d,_]+)\)/i,
  /maximum prompt length is ([\d,_]+)/i,
  /maximum allowed input length of ([\d,_]+)/i,
  /context (?:length|size) \(([\d,_]+) tokens\)/i,
  /configured context size is ([\d,_]+)/i,
  /exceeds the limit of ([\d,_]+)/i,
  /model token limit: ([\d,_]+)/i,
  /context length (?:of|is) only ([\d,_]+)/i, // LM Studio, vLLM
  /n_keep: [\d,_]+ >= n_ctx: ([\d,_]+)/i, // LM Studio
  /`max_new_tokens` must be <= ([\d,_]+)/i, // TGI
  /range of input length should be \[\d+, ([\d,_]+)\]/i, // DashScope
  /total tokens cannot exceed ([\d,_]+)/i, // Cohere
];

/**
 * Where a throttling text states the tokens allowed at once and the tokens asked for, in this
 * order.
 */
export const REQUEST_CEILING = /limit:? ([\d,_]+)[^\n]{0,40}?requested:? ([\d,_]+)/i;
