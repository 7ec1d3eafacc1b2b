// What requests cost, by tokens new, read from a cache, written to one, and said.

/** Tokens of a prompt, each counted once. */
export interface PromptTokens {
  /** Neither read from the cache nor written to it. */
  fresh: number;
  /** Read from the cache. */
  read: number;
  /** Written to be kept for the shorter time. */
  written: number;
  /** Written to be kept for the longer time. */
  writtenLong: number;
}

/** Tokens of one exchange. */
export interface Usage extends PromptTokens {
  /** All that the model said, thinking included. */
  output: number;
  /** The part of `output` that was thinking. */
  thinking: number;
}

/** USD for a million tokens. */
export interface Prices {
  /** New tokens of the prompt. */
  fresh: number;
  /** Tokens read from the cache. */
  read: number;
  /** Tokens written for the shorter time. */
  written: number;
  /** Tokens written for the longer time. */
  writtenLong: number;
  /** Tokens of the reply. */
  output: number;
}

/** Tokens, and what they cost. */
export interface Bill extends Usage {
  /** USD. */
  cost: number;
}

const KINDS = ["fresh", "read", "written", "writtenLong", "output"] as const;

export function billOf(usage: Usage, prices: Prices): Bill {
  const cost = KINDS.reduce((sum, kind) => sum + usage[kind] * prices[kind], 0) / 1e6;
  return { ...usage, cost };
}

const NOTHING: Bill = {
  fresh: 0,
  read: 0,
  written: 0,
  writtenLong: 0,
  output: 0,
  thinking: 0,
  cost: 0,
};

export function sumOf(bills: readonly Bill[]): Bill {
  return bills.reduce((sum, bill) => {
    const added = Object.entries(sum).map(([kind, had]) => [kind, had + bill[kind as keyof Bill]]);
    return Object.fromEntries(added) as unknown as Bill;
  }, NOTHING);
}

export const promptTotal = ({ fresh, read, written, writtenLong }: PromptTokens): number =>
  fresh + read + written + writtenLong;

/** A rough count that is the same every time: four characters to a token. */
export const tokensIn = (characters: number): number => Math.ceil(characters / 4);
