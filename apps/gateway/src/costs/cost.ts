// What tokens cost, in US dollars.
import type { AssistantMessage, Usage } from "@clew/plugin-sdk/core";
import { type ModelCall, promptTokensOf } from "@clew/plugin-sdk/host";
import type { Prices } from "./prices.ts";

/** US dollars, by what they were paid for. */
export interface Cost {
  input: number;
  cacheRead: number;
  cacheWrite: number;
  /** Thinking included. */
  output: number;
  /** Calls besides those that reply: compactions, engines, plugins, memory. */
  summariser: number;
  /** All of them together. */
  total: number;
}

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
  const cacheWrite = dollars(usage.cacheWrite, write);
  const output = dollars(usage.output, at.output);
  if (input === null || cacheRead === null || cacheWrite === null || output === null) return null;
  return withTotal({ input, cacheRead, cacheWrite, output, summariser: 0 });
}

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
