// At which size a context is compacted, and down to which one.

/** What a host says of the marks; what it leaves out follows from the budget. */
export interface WaterSettings {
  /** Tokens above which a context is compacted. Absent: by the budget. */
  highWaterTokens?: number | undefined;
  /** Tokens a compaction goes down to. Absent, or not below the high mark: as that one is. */
  lowWaterTokens?: number | undefined;
  /**
   * True: the high mark is where calls cost least, by the session's growth. Absent: false, a large
   * window is used for what it is good for, seeing more.
   */
  costFirst?: boolean | undefined;
}

/** Both in tokens of what a compaction can shrink: messages, summary, ledger and the like. */
export interface WaterMarks {
  /** A context above it is compacted. */
  high: number;
  /** What a compaction goes down to; always below `high`. */
  low: number;
}

/** Budget, high and low mark, tokens; straight lines between. */
const MARKS: readonly (readonly [budget: number, high: number, low: number])[] = [
  [0, 0, 0],
  [32_000, 30_400, 10_500],
  [64_000, 60_800, 20_000],
  [128_000, 107_000, 24_500],
];
const [LARGEST, LARGEST_HIGH, LARGEST_LOW] = MARKS.at(-1)!;
/** Room for what the next call adds. */
const MOST_OF_BUDGET = 0.95;
/** Of the low mark, where cost goes before what is seen. */
const COST_FIRST_LOW = 0.6;
/**
 * Twice the price of writing a token anew to a cache instead of reading it there, over the price of
 * reading it: 2 × (1.25 − 0.1) / 0.1.
 */
const REWRITE_PRICE = 23;

/**
 * The marks of one budget: the prompt budget without system prompt and tool schemas, in tokens. Few
 * and far steps keep the beginning of the requests the same, which is what caches pay for.
 */
export function planWater(input: {
  budget: number;
  settings?: WaterSettings | undefined;
  /** Tokens of the newest exchange, which every compaction keeps. Absent: 0. */
  newestTokens?: number | undefined;
  /** Tokens a call of this session adds; 0 or absent: not known. */
  growthTokens?: number | undefined;
}): WaterMarks {
  const { settings = {}, newestTokens = 0, growthTokens = 0 } = input;
  const budget = Math.max(1, input.budget);
  const highWaterTokens = numberOf(settings.highWaterTokens);
  const lowWaterTokens = numberOf(settings.lowWaterTokens);
  const [tableHigh, tableLow] = marksOf(budget);
  const costFirst = settings.costFirst === true && growthTokens > 0;
  const share = costFirst ? COST_FIRST_LOW : 1;
  const usualHigh = () => {
    if (!costFirst) return tableHigh;
    const from = Math.max(lowWaterTokens ?? share * tableLow, newestTokens);
    return from + Math.sqrt(REWRITE_PRICE * growthTokens * from);
  };
  const wantedHigh = highWaterTokens ?? usualHigh();
  const high = Math.max(1, Math.floor(Math.min(wantedHigh, MOST_OF_BUDGET * budget)));
  const usualLow = share * (highWaterTokens === undefined ? tableLow : lowBelow(high));
  const wantedLow = lowWaterTokens ?? usualLow;
  // A step that goes nowhere would be taken after every message.
  const low = Math.max(wantedLow < high ? wantedLow : share * lowBelow(high), newestTokens);
  return { high, low: Math.max(0, Math.min(Math.floor(low), high - 1)) };
}

const numberOf = (value: number | undefined) => (Number.isNaN(value) ? undefined : value);

/** The low mark that belongs to a high one, whatever the budget. */
function lowBelow(high: number): number {
  const above = MARKS.findIndex(([, most]) => high < most);
  if (above < 0) return (LARGEST_LOW / LARGEST_HIGH) * high;
  const [, from, lowFrom] = MARKS[above - 1]!;
  const [, to, lowTo] = MARKS[above]!;
  return lowFrom + ((high - from) / (to - from)) * (lowTo - lowFrom);
}

function marksOf(budget: number): readonly [high: number, low: number] {
  const above = MARKS.findIndex(([most]) => budget < most);
  if (above < 0) {
    const times = Math.sqrt(budget / LARGEST);
    return [times * LARGEST_HIGH, times * LARGEST_LOW];
  }
  const [from, highFrom, lowFrom] = MARKS[above - 1]!;
  const [to, highTo, lowTo] = MARKS[above]!;
  const share = (budget - from) / (to - from);
  return [highFrom + share * (highTo - highFrom), lowFrom + share * (lowTo - lowFrom)];
}
