// What a turn's model calls paid for, or sent, for nothing.
import type { ModelCallReport, TurnReport } from "@clew/engine-core";
import type { Usage } from "@clew/plugin-sdk/core";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import { type Cost, rounded } from "./cost.ts";
import type { WasteCause, WasteLine } from "./line.ts";
import type { Prices } from "./prices.ts";

export type Waste = Pick<WasteLine, "model" | "cause" | "calls" | "tokens" | "dollars">;

export type WastingCall = Pick<
  ModelCallReport,
  | "usage"
  | "estimated"
  | "error"
  | "failure"
  | "retries"
  | "resent"
  | "cache"
  | "model"
  | "system"
  | "tools"
  | "messages"
>;

export interface Reckoning {
  /** Of "provider/model"; null = not known. */
  pricesOf: (model: string) => Prices | null;
  /** Of the last try of a call. */
  costOf: (
    call: Pick<WastingCall, "usage" | "estimated" | "error" | "failure">,
    prices: Prices | null,
  ) => Cost | null;
}

/** Providers keep whole blocks: what is missing of the last one was not lost. */
const BLOCK_TOKENS = 256;

/** Pure. A row for each model and cause. */
export function wasteOf(
  { modelCalls, model }: Pick<TurnReport, "model"> & { modelCalls: readonly WastingCall[] },
  { pricesOf, costOf }: Reckoning,
): Waste[] {
  const found: Waste[] = [];
  for (const call of modelCalls) {
    const name = call.model ?? model.resolved;
    const prices = pricesOf(name);
    const add = (cause: WasteCause, calls: number, tokens: number, dollars: number | null) =>
      found.push({ model: name, cause, calls, tokens, dollars });
    const dollars = costOf(call, prices)?.total ?? null;
    const { retries, resent = [] } = call;
    const paidOf = (usage: Usage) => costOf({ usage, error: null }, prices)?.total ?? null;
    // What no server had was not sent.
    const isUnsent = call.failure?.unsent === true;
    const again = isUnsent ? resent.length : retries;
    if (again > 0) add("re-sent", again, again * promptTokens(call), sumOf(resent.map(paidOf)));
    if (call.failure?.kind === "overflow")
      add("over-full", 1, call.failure.promptTokens ?? promptTokens(call), dollars);
    else if (call.error !== null && call.failure?.kind !== "aborted" && !isUnsent)
      add("re-sent", 1, promptTokens(call), dollars);
    for (const { cause, tokens } of planPaidAgain(call))
      add(cause, 1, tokens, call.usage && priceOfLoss(call.usage, tokens, prices));
  }
  return mergeWaste(found);
}

/** Null: one of them is not known. */
const sumOf = (dollars: readonly (number | null)[]): number | null =>
  dollars.reduce((sum, each) => (sum === null || each === null ? null : rounded(sum + each)), 0);

/**
 * Pure. Tokens of the prompt that stood the same in the last call of its model and were not read
 * from a cache. Those before anything that changed, a pause lost or the provider did not give;
 * those behind it, the change lost. What is new is none of them.
 */
export function planPaidAgain({
  cache,
  usage,
}: Pick<WastingCall, "cache" | "usage">): Pick<Waste, "cause" | "tokens">[] {
  if (cache === undefined || cache.billed === null || usage === null) return [];
  const { predicted, billed, broke, repeated = { first: predicted, moved: 0 } } = cache;
  const first = Math.min(repeated.first, promptTokensOf(usage));
  const all = Math.min(first + repeated.moved, promptTokensOf(usage));
  const lost = Math.max(0, first - billed);
  const moved = Math.max(0, all - Math.max(first, billed));
  const rows =
    broke?.code === "expired"
      ? ([
          ["after-pause", lost],
          ["broken-prefix", moved],
        ] as const)
      : ([["broken-prefix", lost + moved]] as const);
  return rows.flatMap(([cause, tokens]) => (tokens < BLOCK_TOKENS ? [] : [{ cause, tokens }]));
}

/** They were written to the cache again, or read in full. */
function priceOfLoss(usage: Usage, lost: number, prices: Prices | null): number | null {
  if (prices === null || prices.cacheRead === null) return null;
  const at =
    prices.above !== undefined && promptTokensOf(usage) > prices.above.tokens
      ? prices.above
      : prices;
  const { input, cacheRead, cacheWrite } = at;
  const written = Math.min(lost, usage.cacheWrite);
  if (cacheRead === null || (cacheWrite === null && written > 0)) return null;
  const paid = written * (cacheWrite ?? 0) + (lost - written) * input;
  return Math.max(0, rounded((paid - lost * cacheRead) / 1e6));
}

/** As it was counted, else as it was estimated. */
function promptTokens({ usage, system, tools, messages }: WastingCall): number {
  if (usage !== null && promptTokensOf(usage) > 0) return promptTokensOf(usage);
  const fixed = [...system, ...tools].reduce((sum, { tokens }) => sum + tokens, 0);
  return Math.round(fixed + messages.tokens);
}

/** Pure. A row for each model and cause. */
export function mergeWaste(found: readonly Waste[]): Waste[] {
  const sums = new Map<string, Waste>();
  for (const each of found) {
    const key = `${each.model} ${each.cause}`;
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? each : addWaste(sum, each));
  }
  return [...sums.values()];
}

const addWaste = (sum: Waste, { calls, tokens, dollars }: Waste): Waste => ({
  ...sum,
  calls: sum.calls + calls,
  tokens: sum.tokens + tokens,
  dollars: sum.dollars === null || dollars === null ? null : rounded(sum.dollars + dollars),
});
