// Counts the model calls of a program that runs turns, as each of them is over.
import type { ExecutionPort, ExecutionRun } from "@clew/engine-core";
import type { Usage } from "@clew/plugin-sdk/core";
import { costOf } from "../costs/cost.ts";
import type { CostSubject, Costs } from "../costs/meter.ts";
import type { Prices } from "../costs/prices.ts";

export interface MeteredHarness {
  costs: Costs;
  subject: CostSubject;
  /** "provider/model" that it asks. */
  model: string;
  /** Null: they are not known. */
  prices: Prices | null;
}

/** The same port; what a call costs is in the ledger before anything else happens. */
export function meteredPort(port: ExecutionPort, metered: MeteredHarness): ExecutionPort {
  return {
    ...port,
    begin: (turn) => meteredRun(port.begin(turn), metered),
  };
}

function meteredRun(
  run: ExecutionRun,
  { costs, subject, model, prices }: MeteredHarness,
): ExecutionRun {
  let began = performance.now();
  /** Of what tells that a call is under way. */
  let id: string | undefined;
  const begin = async () => {
    id ??= await costs.begin(subject, model);
  };
  return {
    async next(answer) {
      if (answer.type === "called") {
        began = performance.now();
        await begin();
      }
      const event = await run.next(answer);
      if (event.type === "handed-over") await begin();
      if (event.type === "usage") {
        const usage = priced(event.usage, prices);
        const durationMs = performance.now() - began;
        await costs.count(subject, { model, usage, failure: null, durationMs }, id);
        id = undefined;
        began = performance.now();
        return { ...event, usage };
      }
      return event;
    },
    close() {
      if (id !== undefined) costs.lose(id);
      run.close();
    },
  };
}

/** Programs tell tokens; what they cost is what the model's server takes for them. */
function priced(usage: Usage, prices: Prices | null): Usage {
  const cost = usage.cost === undefined ? costOf(usage, prices) : null;
  if (cost === null) return usage;
  const { summariser: _none, ...paid } = cost;
  return { ...usage, cost: paid };
}
