// Seeded chance, so that the same seed makes the same sessions everywhere.

/** Draws from one seed. */
export interface Chance {
  /** From 0 up to, not including, `below`. */
  below(below: number): number;
  /** True in `share` of the cases. */
  once(share: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
}

export function chanceOf(seed: number): Chance {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    once: (share) => next() < share,
    pick: (values) => values[below(values.length)]!,
  };
}
