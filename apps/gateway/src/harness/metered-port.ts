// Counts the model calls of a program that runs turns, as each of them is over.
import type { ExecutionPort, ExecutionRun } from "@clew/engine-core";
import type { CostSubject, Costs } from "../costs/meter.ts";

export interface MeteredHarness {
  costs: Costs;
  subject: CostSubject;
  /** "provider/model" that it asks. */
  model: string;
}

/** The same port; what a call is told to cost is in the ledger before anything else happens. */
export function meteredPort(port: ExecutionPort, metered: MeteredHarness): ExecutionPort {
  return {
    ...port,
    begin: (turn) => meteredRun(port.begin(turn), metered),
  };
}

function meteredRun(run: ExecutionRun, { costs, subject, model }: MeteredHarness): ExecutionRun {
  let began = performance.now();
  return {
    async next(answer) {
      if (answer.type === "called") began = performance.now();
      const event = await run.next(answer);
      if (event.type === "usage") {
        const { usage } = event;
        const durationMs = performance.now() - began;
        await costs.count(subject, { model, usage, failure: null, durationMs });
        began = performance.now();
      }
      return event;
    },
    close: () => run.close(),
  };
}
