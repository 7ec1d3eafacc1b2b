// Draws choices from a seed.

export interface Chance {
  /** From 0 up to 1. */
  next(): number;
  /** True in so many of one. */
  happens(share: number): boolean;
  /** A whole number between both, these included. */
  between(least: number, most: number): number;
  /** Another row of choices, the same for the same name. */
  apart(name: number): Chance;
}

export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    happens: (share) => next() < share,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    apart: (name) => createChance(seed ^ Math.imul(name + 1, 0x9e3779b1)),
  };
}
