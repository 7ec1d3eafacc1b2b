// Decides whether a provider's error tells of a request larger than the context window, and how many tokens it counted.
import { OBSERVED_TOKEN_PATTERNS, OVERFLOW_PATTERNS, OVERFLOW_STATUSES } from "./overflow-patterns.ts";

/** True when the status or the words tell of an overflow. */
export function isOverflow(input: { text: string; status?: number }): boolean {
  if (input.status !== undefined && OVERFLOW_STATUSES.includes(input.status)) return true;
  return OVERFLOW_PATTERNS.some((pattern) => pattern.test(input.text));
}

/** The tokens the provider counted, when its words state them. */
export function observedTokens(text: string): number | undefined {
  for (const pattern of OBSERVED_TOKEN_PATTERNS) {
    const numbers = pattern
      .exec(text)
      ?.slice(1)
      .flatMap((group) => (group === undefined ? [] : [Number(group.replace(/[,_]/g, ""))]));
    if (numbers !== undefined && numbers.length > 0) return numbers.reduce((sum, value) => sum + value, 0);
  }
  return undefined;
}
