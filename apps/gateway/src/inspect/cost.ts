// What a model call cost, and a turn with all its calls.
import type { ModelCallReport, SideCallReport, TurnReport } from "@clew/engine-core";
import type { Usage } from "@clew/plugin-sdk/core";
import { addCosts, asSideCost, type Cost, costOf, isFree, NO_COST } from "../costs/cost.ts";
import type { Prices } from "../costs/prices.ts";
import { wasteOf } from "../costs/waste.ts";
import type { PlacedCall } from "./placed-call.ts";
import type { CallWaste } from "./shapes/calls.ts";

/** Of "provider/model"; null = not known. */
export type PricesOf = (model: string) => Prices | null;

/** What nobody reckoned when a call was made, nobody knows. */
export const NO_PRICES: PricesOf = () => null;

/** Pure. All tries of a call together; null: one of them is not known. */
export function costOfCall(
  call: Parameters<typeof costOfTry>[0] & Pick<ModelCallReport, "resent">,
  prices: Prices | null,
): Cost | null {
  const { resent = [] } = call;
  const last = costOfTry(call, prices);
  if (resent.length === 0) return last;
  const costs = [last, ...resent.map((usage) => costOfTry({ usage, error: null }, prices))];
  const known = costs.filter((cost) => cost !== null);
  return known.length < costs.length ? null : addCosts(known);
}

/**
 * Pure. What was reckoned when the call was made, of its last try, else by these prices; null: not
 * known, because of the prices, or because nobody said or estimated how much it was.
 */
export function costOfTry(
  {
    usage,
    estimated,
    failure,
    error,
  }: Pick<ModelCallReport, "usage" | "error"> &
    Partial<Pick<ModelCallReport, "failure" | "estimated">>,
  prices: Prices | null,
): Cost | null {
  const told = usage ?? estimated;
  if (told !== undefined) return told.cost === undefined ? costOf(told, prices) : costIn(told.cost);
  return error !== null && failure !== undefined && isFree(failure) ? NO_COST : null;
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

/** Pure. What it paid, or sent, for nothing. */
export const wasteOfPlaced = (
  { report: { model }, call }: Pick<PlacedCall, "report" | "call">,
  pricesOf: PricesOf,
): CallWaste[] =>
  wasteOf({ model, modelCalls: [call] }, { pricesOf, costOf: costOfTry }).map(
    ({ cause, tokens, dollars }) => ({ cause, tokens, dollars }),
  );

/** What the calls of a turn came to. */
export interface TurnCost {
  /** Side calls included. */
  cost: Cost;
  /** Calls, each try of them that was paid for, and side calls. */
  modelCalls: number;
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
  const again = modelCalls.reduce((sum, { resent = [] }) => sum + resent.length, 0);
  return {
    cost: addCosts(known),
    modelCalls: costs.length + again,
    unknown: costs.length - known.length,
  };
}

/** Pure. What side calls came to, as it was reckoned when they were made. */
export function costOfSideCalls(calls: readonly SideCallReport[]): Cost | null {
  const costs = calls.map(costOfSideCall);
  const known = costs.filter((cost) => cost !== null);
  return known.length < costs.length ? null : addCosts(known);
}

function costOfSideCall({ usage, estimated, failure: kind, unsent }: SideCallReport): Cost | null {
  const failed =
    kind === undefined
      ? { error: null }
      : { error: kind, failure: { kind, ...(unsent && { unsent }) } };
  const cost = costOfCall({ usage, ...(estimated && { estimated }), ...failed }, null);
  return cost && asSideCost(cost);
}
