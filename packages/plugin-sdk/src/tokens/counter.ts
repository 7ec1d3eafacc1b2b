// What every token counter offers, and the two that need no tokeniser.
import { estimateText } from "./estimate.ts";

/** Counts the tokens of texts; which tokeniser it stands for is in `id`. */
export interface TokenCounter {
  /** Names the tokeniser, e.g. "tiktoken/o200k_base"; counts of equal ids may be compared. */
  readonly id: string;
  /** Tokens of `text`: a whole number, 0 for the empty text. */
  count(text: string): number;
  /**
   * A number `count(text)` never exceeds, cheap to compute: when the bounds fit a budget,
   * nothing need be counted.
   */
  bound(text: string): number;
}

/**
 * Length of `text` in UTF-8: no byte-level tokeniser makes more tokens than bytes. Lone
 * surrogates count as U+FFFD.
 */
export function byteBound(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if ((code & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      bytes += 4;
      i++;
    } else bytes += 3;
  }
  return bytes;
}

/** `estimateText(text).estimate` as a counter. */
export const estimator: TokenCounter = {
  id: "estimate",
  count: (text) => estimateText(text).estimate,
  bound: byteBound,
};

/**
 * ceil(characters / 4), for tests that share numbers with hosts that count so. Not for decisions:
 * wrong by half on tool output.
 */
export const chars4: TokenCounter = {
  id: "chars4",
  count: (text) => Math.ceil(text.length / 4),
  bound: (text) => Math.ceil(text.length / 4),
};
