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
  "usage" | "error" | "failure" | "retries" | "cache" | "model" | "system" | "tools" | "messages"
>;

export interface Reckoning {
  /** Of "provider/model"; null = not known. */
  pricesOf: (model: string) => Prices | null;
  costOf: (call: WastingCall, prices: Prices | null) => Cost | null;
}

/** Changes of a request that make a cache useless which its provider still holds. */
const BREAKS: ReadonlySet<string> = new Set([
  "messages-changed",
  "system-changed",
  "tools-changed",
]);
/** Providers keep whole blocks: what is missing of the last one was not lost. */
const BLOCK_TOKENS = 256;

/**
 * Pure. A row for each model and cause. `before`: the session's last answered call before these;
 * absent: none is known.
 */
export function wasteOf(
  { modelCalls, model }: Pick<TurnReport, "model"> & { modelCalls: readonly WastingCall[] },
  before: WastingCall | undefined,
  { pricesOf, costOf }: Reckoning,
): Waste[] {
  const found: Waste[] = [];
  let last = before;
  for (const call of modelCalls) {
    const name = call.model ?? model.resolved;
    const prices = pricesOf(name);
    const add = (cause: WasteCause, calls: number, tokens: number, dollars: number | null) =>
      found.push({ model: name, cause, calls, tokens, dollars });
    const dollars = costOf(call, prices)?.total ?? null;
    if (call.retries > 0) add("re-sent", call.retries, call.retries * promptTokens(call), 0);
    if (call.failure?.kind === "overflow")
      add("over-full", 1, call.failure.promptTokens ?? promptTokens(call), dollars);
    else if (call.error !== null && call.failure?.kind !== "aborted")
      add("re-sent", 1, promptTokens(call), dollars);
    const lost = lostTokens(call, last);
    if (lost > 0)
      add("broken-prefix", 1, lost, call.usage && priceOfLoss(call.usage, lost, prices));
    if (call.error === null) last = call;
  }
  return mergeWaste(found);
}

/** Of what the last request left in the cache, or was expected from it, what was not read. */
function lostTokens({ cache, usage }: WastingCall, last: WastingCall | undefined): number {
  if (cache === undefined || cache.billed === null || usage === null) return 0;
  const { predicted, billed, broke } = cache;
  const kept = last?.usage == null ? 0 : promptTokensOf(last.usage);
  const held =
    broke === undefined ? predicted : BREAKS.has(broke.code) ? Math.max(kept, predicted) : 0;
  const lost = Math.min(held, promptTokensOf(usage)) - billed;
  return lost < BLOCK_TOKENS ? 0 : lost;
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
