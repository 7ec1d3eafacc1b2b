// What tokens cost, in US dollars.
import type { AssistantMessage, Usage } from "@clew/plugin-sdk/core";
import { type ModelCall, type ModelError, promptTokensOf } from "@clew/plugin-sdk/host";
import { z } from "zod";
import type { Prices } from "./prices.ts";

const dollar = z.number().nonnegative();

/** US dollars, by what they were paid for. */
export const CostSchema = z.object({
  input: dollar,
  cacheRead: dollar,
  cacheWrite: dollar,
  /** Thinking included. */
  output: dollar,
  /** Calls besides those that reply: compactions, engines, plugins, memory. */
  summariser: dollar,
  /** All of them together. */
  total: dollar,
});
export type Cost = z.infer<typeof CostSchema>;

type Counts = Pick<Usage, "input" | "output" | "cacheRead" | "cacheWrite">;

export const NO_COST: Cost = {
  ...{ input: 0, cacheRead: 0, cacheWrite: 0, output: 0, summariser: 0, total: 0 },
};

/** Pure. Null: the price of some of the tokens is not known. */
export function costOf(
  usage: Counts,
  prices: Prices | null,
  { isKeptLong = false }: { isKeptLong?: boolean } = {},
): Cost | null {
  if (prices === null) return null;
  const { above } = prices;
  const at = above !== undefined && promptTokensOf(usage) > above.tokens ? above : prices;
  const write = isKeptLong ? (at.cacheWriteLong ?? at.cacheWrite) : at.cacheWrite;
  const input = dollars(usage.input, at.input);
  const cacheRead = dollars(usage.cacheRead, at.cacheRead);
  // Where the catalogue knows no price of writing, it is that of reading.
  const isPlain = prices.isRecorded && write === 0;
  const cacheWrite = dollars(usage.cacheWrite, isPlain ? at.input : write);
  const output = dollars(usage.output, at.output);
  if (input === null || cacheRead === null || cacheWrite === null || output === null) return null;
  return withTotal({ input, cacheRead, cacheWrite, output, summariser: 0 });
}

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

/** Nobody read the request, or whoever did bills no answer to it. */
export const isFree = ({ kind, unsent }: Pick<ModelError, "kind" | "unsent">): boolean =>
  unsent === true || FREE_FAILURES.has(kind);

/** Classes of service whose prices are the recorded ones. */
const USUAL_TIERS: ReadonlySet<string | undefined> = new Set([
  ...[undefined, "auto", "default", "standard", "standard_only", "on_demand"],
]);

/** Pure. A reply with what its tokens cost, where that is known and its provider did not say so. */
export function withCost<Message extends Pick<AssistantMessage, "usage">>(
  message: Message,
  { cache, serviceTier }: Pick<ModelCall, "cache" | "serviceTier">,
  prices: Prices | null,
): Message {
  const { usage } = message;
  if (usage === undefined || usage.cost !== undefined) return message;
  if (prices?.isRecorded === true && !USUAL_TIERS.has(serviceTier)) return message;
  const cost = costOf(usage, prices, { isKeptLong: cache?.retention === "long" });
  if (cost === null) return message;
  const { summariser: _none, ...kept } = cost;
  return { ...message, usage: { ...usage, cost: kept } };
}

/** Of a call that did not reply. */
export const asSideCost = ({ total }: Cost): Cost => ({ ...NO_COST, summariser: total, total });

/** Pure. */
export function addCosts(costs: readonly Cost[]): Cost {
  const sum = (part: keyof Cost) => rounded(costs.reduce((total, cost) => total + cost[part], 0));
  return {
    ...{ input: sum("input"), cacheRead: sum("cacheRead"), cacheWrite: sum("cacheWrite") },
    ...{ output: sum("output"), summariser: sum("summariser"), total: sum("total") },
  };
}

/** Null: there are tokens, and no price. */
function dollars(tokens: number, perMillion: number | null): number | null {
  if (tokens === 0) return 0;
  return perMillion === null ? null : rounded((tokens * perMillion) / 1e6);
}

const withTotal = (parts: Omit<Cost, "total">): Cost => ({
  ...parts,
  total: rounded(
    parts.input + parts.cacheRead + parts.cacheWrite + parts.output + parts.summariser,
  ),
});

/** To a millionth of a millionth, so that sums of the same numbers look the same. */
export const rounded = (value: number): number => Math.round(value * 1e12) / 1e12;
