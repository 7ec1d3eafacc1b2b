// What a model call cost, and a turn with all its calls.
import type { ModelCallReport, TurnReport } from "@clew/engine-core";
import type { Usage } from "@clew/plugin-sdk/core";
import { addCosts, asSideCost, type Cost, costOf, isFree, NO_COST } from "../costs/cost.ts";
import type { Prices } from "../costs/prices.ts";
import { type WastingCall, wasteOf } from "../costs/waste.ts";
import type { PlacedCall } from "./placed-call.ts";
import type { CallWaste } from "./shapes.ts";

/** Of "provider/model"; null = not known. */
export type PricesOf = (model: string) => Prices | null;

/** What nobody reckoned when a call was made, nobody knows. */
export const NO_PRICES: PricesOf = () => null;

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

/**
 * Pure. The same with the side calls since the call before it, and after the turn's last one; null
 * where one of them is not known.
 */
export function costOfPlaced(
  { report, call, number }: Pick<PlacedCall, "report" | "call" | "number">,
  pricesOf: PricesOf,
): Cost | null {
  const isLast = number === report.modelCalls.length;
  const sides = (report.sideCalls ?? []).filter(
    ({ afterCalls }) => afterCalls === number - 1 || (isLast && afterCalls >= number),
  );
  const costs = [
    costOfCall(call, pricesOf(call.model ?? report.model.resolved)),
    ...sides.map(costOfSideCall),
  ];
  const known = costs.filter((cost) => cost !== null);
  return known.length < costs.length ? null : addCosts(known);
}

/** Pure. What it paid, or sent, for nothing. `before`: the session's last answered call. */
export const wasteOfPlaced = (
  { report: { model }, call }: Pick<PlacedCall, "report" | "call">,
  before: WastingCall | undefined,
  pricesOf: PricesOf,
): CallWaste[] =>
  wasteOf({ model, modelCalls: [call] }, before, { pricesOf, costOf: costOfCall }).map(
    ({ cause, tokens, dollars }) => ({ cause, tokens, dollars }),
  );

/** What the calls of a turn came to. */
export interface TurnCost {
  /** Side calls included. */
  cost: Cost;
  calls: number;
  /** Calls whose cost is not known: it is not in `cost`. */
  unknown: number;
}

/** Pure. As it was reckoned when the calls were made. */
export function costOfTurn({
  modelCalls,
  sideCalls = [],
}: Pick<TurnReport, "modelCalls" | "sideCalls">): TurnCost {
  const costs = [
    ...modelCalls.map((call) => costOfCall(call, null)),
    ...sideCalls.map(costOfSideCall),
  ];
  const known = costs.filter((cost) => cost !== null);
  return { cost: addCosts(known), calls: costs.length, unknown: costs.length - known.length };
}

function costOfSideCall({
  usage,
  failure: kind,
}: NonNullable<TurnReport["sideCalls"]>[number]): Cost | null {
  const failed = kind === undefined ? { error: null } : { error: kind, failure: { kind } };
  const cost = costOfCall({ usage, ...failed }, null);
  return cost && asSideCost(cost);
}
