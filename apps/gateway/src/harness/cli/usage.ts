// Adds and parts what calls used.
import type { Usage } from "@clew/plugin-sdk/core";

export const NO_USAGE: Usage = {
  ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
};

const each = (work: (name: keyof typeof NO_USAGE) => number): Usage => ({
  input: work("input"),
  output: work("output"),
  cacheRead: work("cacheRead"),
  cacheWrite: work("cacheWrite"),
  totalTokens: work("totalTokens"),
});

/** Pure. */
export const addUsage = (one: Usage, other: Usage): Usage =>
  each((name) => (one[name] as number) + (other[name] as number));

/** Pure. Of a sum that is smaller than the one before, counting began anew. */
export function lessUsage(sum: Usage, before: Usage | null): Usage {
  if (before === null || sum.totalTokens < before.totalTokens) return sum;
  return each((name) => Math.max(0, (sum[name] as number) - (before[name] as number)));
}
