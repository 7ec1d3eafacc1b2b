// Adds up what the replies took that became one.
import type { AssistantMessage, Usage } from "@clew/plugin-sdk/core";

/** Undefined: none of them tells. A cost is only known where all that tell have one. */
export function usageOfAll(replies: readonly Pick<AssistantMessage, "usage">[]): Usage | undefined {
  const told = replies.flatMap(({ usage }) => usage ?? []);
  if (told.length <= 1) return told[0];
  const sum = (of: (usage: Usage) => number) => told.reduce((total, usage) => total + of(usage), 0);
  const isPriced = told.every(({ cost }) => cost !== undefined);
  const price = (kind: keyof NonNullable<Usage["cost"]>) => sum(({ cost }) => cost?.[kind] ?? 0);
  return {
    ...{ input: sum(({ input }) => input), output: sum(({ output }) => output) },
    ...{ cacheRead: sum(({ cacheRead }) => cacheRead) },
    ...{ cacheWrite: sum(({ cacheWrite }) => cacheWrite) },
    totalTokens: sum(({ totalTokens }) => totalTokens),
    ...(isPriced && {
      cost: {
        ...{ input: price("input"), output: price("output"), total: price("total") },
        ...{ cacheRead: price("cacheRead"), cacheWrite: price("cacheWrite") },
      },
    }),
  };
}
