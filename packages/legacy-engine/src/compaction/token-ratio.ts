// Learns per model how the provider's counts compare to our estimates.

/** How far estimates are off for one model. */
export interface TokenRatio {
  /** Measured / estimated; multiply an estimate by it. */
  ratio: number;
  /** How many calls it was learned from. */
  samples: number;
}

/** What a model starts with. */
export const UNKNOWN_RATIO: TokenRatio = { ratio: 1, samples: 0 };

/** Above the 1.8 of spec "compaction" §5.3: old tokenisers count Hindi or Thai so. */
export const RATIO_BOUNDS = { min: 0.5, max: 4 } as const;
const WEIGHT = 0.2;
// Short requests say more about overheads than about text.
const MIN_ESTIMATE = 500;

/** One call, counted and estimated. */
export interface RatioSample {
  /** Tokens of the prompt as billed: input + cacheRead + cacheWrite. */
  measured: number;
  /** Our estimate (its middle) of the same prompt. */
  estimated: number;
  /**
   * False for calls whose count says nothing: aborted, failed, or edited by the server. Absent:
   * true.
   */
  usable?: boolean;
}

/**
 * A moving average, bounded on both sides: one odd count moves it by a fifth at most. Pure:
 * fold it over the calls of a model and store the result. Unusable samples and those under
 * 500 tokens change nothing.
 * @example
 * ```ts
 * import { learnRatio, UNKNOWN_RATIO } from "@clew/legacy-engine/parts";
 *
 * const { ratio, samples } = learnRatio(UNKNOWN_RATIO, { measured: 12_000, estimated: 10_000 });
 * console.log(ratio.toFixed(2), samples);
 * ```
 *
 * ```text
 * 1.20 1
 * ```
 */
export function learnRatio(
  known: TokenRatio,
  { measured, estimated, usable = true }: RatioSample,
): TokenRatio {
  const isNumber =
    Number.isFinite(measured) &&
    measured > 0 &&
    Number.isFinite(estimated) &&
    estimated >= MIN_ESTIMATE;
  if (!usable || !isNumber) return known;
  const seen = clamp(measured / estimated);
  // The first sample counts whole: there is nothing to average it with.
  const ratio = known.samples === 0 ? seen : clamp(known.ratio + WEIGHT * (seen - known.ratio));
  return { ratio, samples: known.samples + 1 };
}

const clamp = (value: number) => Math.min(RATIO_BOUNDS.max, Math.max(RATIO_BOUNDS.min, value));
