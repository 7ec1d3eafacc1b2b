// Draws the choices of a generated session from a seed.
import { random } from "../../shared/texts.ts";

export interface Chance {
  /** In [0, 1). */
  next(): number;
  /** 0 ≤ n < `below`, whole. */
  below(limit: number): number;
  pick<Value>(values: readonly Value[]): Value;
  /** The first more often than the last. */
  pickFirst<Value>(values: readonly Value[]): Value;
  /** One of the newest most of the time, an old one now and then. */
  pickRecent<Value>(values: readonly Value[]): Value;
  /** Lower-case hexadecimal. */
  hex(length: number): string;
}

export function createChance(seed: number): Chance {
  const next = random(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    pick: (values) => values[below(values.length)]!,
    pickFirst: (values) => values[Math.floor(values.length * next() ** 2)]!,
    pickRecent: (values) => {
      // Evenly in the logarithm of the age: as often 1 to 10 steps ago as 10 to 100.
      const age = Math.floor(values.length ** next()) - 1;
      return values[values.length - 1 - age]!;
    },
    hex: (length) => Array.from({ length }, () => below(16).toString(16)).join(""),
  };
}
