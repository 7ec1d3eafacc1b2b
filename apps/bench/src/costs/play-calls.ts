// Sends recorded replies through what counts a gateway's model calls.
import { setImmediate } from "node:timers/promises";
import type { ModelPort } from "@clew/engine-core";
import type { AgentMessage, AssistantMessage, Usage } from "@clew/plugin-sdk/core";
import { type CostProfile, type ModelRef, modelProfile } from "@clew/plugin-sdk/host";
import { CostCapsSchema } from "../../../gateway/src/config/cost-caps.ts";
import { withCost } from "../../../gateway/src/costs/cost.ts";
import { createCostLedger } from "../../../gateway/src/costs/ledger.ts";
import { createCosts } from "../../../gateway/src/costs/meter.ts";
import { pricesOf } from "../../../gateway/src/costs/prices.ts";

const QUIET = { info() {}, warn() {}, error() {} };
const KINDS = ["input", "cacheRead", "cacheWrite", "output"] as const;

const repliesIn = (messages: readonly AgentMessage[]): AssistantMessage[] =>
  messages.filter((message) => message.role === "assistant");

/** What the catalogue knows; null: nothing. */
function recordedPrices({ provider, api, model }: AssistantMessage): CostProfile | null {
  if (provider === undefined || api === undefined || model === undefined) return null;
  return modelProfile({ provider, api, id: model }).cost;
}

/** By hand: sums of the recorded numbers, and each by its price. */
export function recordedUsage(messages: readonly AgentMessage[]) {
  const counts = { calls: 0, input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };
  let dollars = 0;
  for (const reply of repliesIn(messages)) {
    counts.calls++;
    const { usage } = reply;
    if (usage === undefined) continue;
    for (const kind of KINDS) counts[kind] += usage[kind];
    if (usage.cost !== undefined) dollars += usage.cost.total;
    else dollars += priceOf(usage, recordedPrices(reply));
  }
  return { counts, dollars };
}

const priceOf = (usage: Usage, prices: CostProfile | null): number =>
  prices === null ? 0 : KINDS.reduce((sum, kind) => sum + usage[kind] * prices[kind], 0) / 1e6;

/** Each as a call of a session, with the usage that was recorded. */
export async function playCalls(home: string, messages: readonly AgentMessage[]): Promise<void> {
  const costs = createCosts({
    ...{ log: QUIET, ledger: createCostLedger({ home, log: QUIET }), rootOf: (key) => key },
    caps: CostCapsSchema.parse({}),
    capsNow: async () => CostCapsSchema.parse({}),
  });
  const subject = { agentId: "main", sessionKey: "s", engine: "legacy", plugin: null };
  for (const reply of repliesIn(messages)) {
    const port = costs.meter(portOf(reply), subject, { for: "reply" });
    const { provider = "", api = "", model: id = "" } = reply;
    const model: ModelRef = { provider, api, id, contextWindow: 1, maxOutputTokens: 1 };
    const signal = AbortSignal.timeout(60_000);
    const call = { model, systemPrompt: "", messages: [], tools: [], signal };
    for await (const _event of port.stream(call)) await setImmediate();
  }
  await costs.close();
}

function portOf(reply: AssistantMessage): ModelPort {
  const message = withCost(reply, {}, pricesOf(undefined, recordedPrices(reply)));
  return {
    async *stream() {
      yield { type: "done", message };
    },
    complete: async () => ({ ok: true, message }),
  };
}
