// What a model call cost.
import type { ModelCallReport } from "@clew/engine-core";
import type { Usage } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { type Cost, costOf, NO_COST } from "../costs/cost.ts";
import type { Prices } from "../costs/prices.ts";

/**
 * Pure. What was reckoned when the call was made, else by these prices; null: not known, because of
 * the prices, or because its provider did not say how much it counted.
 */
export function costOfCall(
  {
    usage,
    failure,
    error,
  }: Pick<ModelCallReport, "usage" | "error"> & Partial<Pick<ModelCallReport, "failure">>,
  prices: Prices | null,
): Cost | null {
  if (usage !== null) return usage.cost === undefined ? costOf(usage, prices) : costIn(usage.cost);
  return error !== null && failure !== undefined && isFree(failure.kind) ? NO_COST : null;
}

/** As it is kept with the tokens of a reply. */
const costIn = ({ input, output, cacheRead, cacheWrite, total }: NonNullable<Usage["cost"]>) => ({
  ...{ input, cacheRead, cacheWrite, output, summariser: 0, total },
});

/** Refusals, which no provider bills: whatever else broke may have been answered in part. */
const FREE_FAILURES: ReadonlySet<ModelError["kind"]> = new Set<ModelError["kind"]>([
  "overflow",
  "rate_limited",
  "overloaded",
  "unavailable",
  "auth",
  "billing",
  "not_found",
  "refused",
  "signature",
  "encrypted_content",
  "pairing",
  "reasoning_required",
  "cache_rejected",
  "invalid_request",
]);

export const isFree = (kind: ModelError["kind"]): boolean => FREE_FAILURES.has(kind);
