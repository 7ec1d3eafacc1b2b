// The words by which providers say that a request is larger than the model's context window, as data.

/** A text that matches one of these tells of an overflow. Case-blind. */
export const OVERFLOW_PATTERNS: readonly RegExp[] = [/context_length_exceeded/i, /context length exceeded/i, /maximum context length/i];

/** Statuses that alone tell of an overflow. */
export const OVERFLOW_STATUSES: readonly number[] = [413];

/** Where a text states how many tokens the provider counted: the first group, or the sum of the first two. */
export const OBSERVED_TOKEN_PATTERNS: readonly RegExp[] = [/resulted in ([\d,_]+) tokens/i, /requested ([\d,_]+) tokens/i];
