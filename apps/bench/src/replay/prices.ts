// What requests cost with a prompt cache, in units of one uncached input token.
import type { Shown } from "./shown.ts";

/** Of one token. */
export const PRICE = { write: 1.25, read: 0.1, input: 1, output: 5 } as const;

/** Messages two requests begin with alike; what a warm cache serves. */
export function commonLength(one: readonly Shown[], other: readonly Shown[]): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one[length]!.wire === other[length]!.wire) length++;
  return length;
}

/** Of a request of `total` tokens of which the cache serves `hit`. */
export const costOf = (hit: number, total: number): number =>
  PRICE.read * hit + PRICE.write * (total - hit);
