// Says in a few words how a session stands.
import type { StatusFacts } from "../../commands/status.ts";
import { spentText } from "../../costs/describe.ts";
import { counted } from "../../text/number.ts";
import type { StatusLine } from "./state.ts";

/** Pure. */
export function statusLineOf(facts: StatusFacts, turnMs: number | null): StatusLine {
  const { model, engine, context, cost } = facts;
  const { spent } = cost;
  return {
    model: `${model.provider}/${model.id}`,
    engine:
      engine.degraded === null
        ? engine.engineId
        : `${engine.engineId} (${engine.configured} failed)`,
    context: { tokens: context.messages, highWater: context.water.high },
    fromCache: spent.prompt === 0 ? null : spent.fromCache / spent.prompt,
    cost: spent.modelCalls === 0 ? null : costText(spent),
    turnMs,
  };
}

/** Short, and still about money: nothing beside it says what it is. */
const costText = (spent: StatusFacts["cost"]["spent"]): string =>
  spent.dollars === 0 && spent.unknown > 0
    ? `no price for ${counted(spent.unknown, "call")}`
    : spentText(spent);
