// Estimates the tokens of a text in one pass, with bounds.
import type { Steps } from "../slices.ts";
import { FEATURE } from "./features.ts";
import { scanSteps, scanText, type TextScan } from "./scan.ts";

/** Tokens. Decisions that risk an overflow use `high`, decisions that discard content use `low`. */
export interface TokenEstimate {
  /** Most likely; the number to show people. */
  readonly estimate: number;
  /** Hardly ever more than the true count. */
  readonly low: number;
  /**
   * Hardly ever less than the true count of what people write. Random letters of one alphabet
   * below U+2000 can have more: 1.2 times as many for ASCII, 3.8 for Greek, 5.4 for U+0300–037F.
   */
  readonly high: number;
}

// Of 1,767 chunks of 2,000 characters that the fit had not seen, 98 % lay between 19 % under and
// 18 % over the exact count.
const LOW = 0.8;
const HIGH = 1.25;

/**
 * Tokens (o200k_base) per counted feature: a non-negative fit of relative errors; texts and method
 * in the package's README.
 */
const WEIGHTS = {
  words: 0.749,
  wordChars5to8: 0.222,
  lettersBeyond8: 0.511,
  capitals: 1.175,
  digitGroups: 1.314,
  spaceRuns: 1.864,
  moreSpaces: 0.0093,
  moreNewlines: 0.1,
  punctuation: 0.735,
  morePunctuation: 0.076,
  punctuation5up: 0.674,
  han: 0.82,
  kana: 0.685,
  hangul: 0.739,
  cyrillicWords: 1.937,
  arabic: 0.385,
  hebrew: 0.527,
  indic: 0.388,
  latinExtended: 0.734,
  symbols: 1.1,
  otherBmp: 0.458,
  astral: 2.05,
  repeatedLetters: 0.125,
  rules: 0.03,
  digitBesideCapital: 0.708,
  marks: 1.3,
  letters07: 0.67,
  letters11: 1.12,
  letters15: 1.5,
  letters22: 2.15,
  letters31: 3.05,
  astralLetters: 3.65,
  spacedDigits: 0.75,
} as const satisfies Record<keyof typeof FEATURE, number>;

const WEIGHT_OF = Object.entries(FEATURE)
  .sort(([, a], [, b]) => a - b)
  .map(([name]) => WEIGHTS[name as keyof typeof FEATURE]);

/**
 * Tokens of `text` without a tokeniser: linear on any input, no set-up, no memory. Whole numbers, 0
 * ≤ low ≤ estimate ≤ high ≤ byteBound. Calibrated on o200k_base; `low` and `high` hold for ordinary
 * text, only `byteBound` is certain (spec "compaction" §5).
 * @example
 * ```ts
 * import { byteBound, estimateText } from "@clew/plugin-sdk/tokens";
 *
 * const text = "The vault code is 7391.";
 * const { low, estimate, high } = estimateText(text);
 * console.log(low <= estimate && estimate <= high && high <= byteBound(text));
 * ```
 *
 * ```text
 * true
 * ```
 */
export const estimateText = (text: string): TokenEstimate =>
  text === "" ? NOTHING : weigh(scanText(text));

/** The same in steps, for a text that takes long. */
export function* estimateSteps(text: string): Steps<TokenEstimate> {
  return text === "" ? NOTHING : weigh(yield* scanSteps(text));
}

function weigh({ features, bytes }: TextScan): TokenEstimate {
  let tokens = 0;
  for (let i = 0; i < features.length; i++) tokens += features[i]! * WEIGHT_OF[i]!;
  const estimate = Math.min(bytes, Math.max(1, Math.round(tokens)));
  // No token spans two words, or a word and a number: of short words there can be no fewer.
  const pieces = features[FEATURE.words]! + features[FEATURE.digitGroups]!;
  return {
    estimate,
    low: Math.min(estimate, Math.floor(tokens * LOW)),
    high: Math.min(bytes, Math.max(estimate, Math.ceil(tokens * HIGH), pieces + 1)),
  };
}

/** The estimate of nothing, where a sum starts. */
export const NOTHING: TokenEstimate = Object.freeze({ estimate: 0, low: 0, high: 0 });

/** Sums estimates part by part. */
export function addEstimates(parts: Iterable<TokenEstimate>): TokenEstimate {
  let estimate = 0;
  let low = 0;
  let high = 0;
  for (const part of parts) {
    estimate += part.estimate;
    low += part.low;
    high += part.high;
  }
  return { estimate, low, high };
}
