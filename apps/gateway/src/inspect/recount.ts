// Says how the tokens of two calls differ where each is counted on a scale of its own.
import { signed } from "../text/number.ts";
import type { CallDiff } from "./shapes/one-call.ts";

/** Pure. Nothing where what both have is counted the same. */
export function describeRecount({
  from,
  to,
  recounted,
}: Pick<CallDiff, "from" | "to" | "recounted">): string[] {
  if (recounted === 0) return [];
  const changes = to.tokens.total - from.tokens.total - recounted;
  return [
    `Of that ${signed(changes)} by what changed, and ${signed(recounted)} by counting again what both have: each call is counted on its own scale.`,
  ];
}
