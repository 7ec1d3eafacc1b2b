// Says which of the facts that a summary stands for are missing in it.
import { formatCount } from "../../src/conversation/format.ts";
import type { SummaryFacts } from "../../src/inspect/shapes/one-call.ts";

const NAMED = 5;

/** Pure. "; missing: A, B and 15 more"; "" = none is. */
export function describeMissingFacts({ all, held, missing }: SummaryFacts): string {
  const named = missing.slice(0, NAMED);
  const more = all - held - named.length;
  if (named.length === 0) return "";
  return `; missing: ${named.join(", ")}${more > 0 ? ` and ${formatCount(more)} more` : ""}`;
}
