// Draws the choices of the demo session from a seed.

export interface Chance {
  /** 0 ≤ n < `limit`, whole. */
  below(limit: number): number;
  pick<Value>(values: readonly Value[]): Value;
  /** True in this share of cases. */
  happens(share: number): boolean;
}

/** The same seed draws the same choices, on every machine. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 15), state | 1);
    return ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick: (values) => values[below(values.length)]!,
    happens: (share) => next() < share,
  };
}
