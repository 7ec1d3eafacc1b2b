// The last step of a turn, in which the engine gets what is new and may tidy up.
import type { Assembly } from "./assembly.ts";
import { deliverMessages } from "./delivery.ts";
import { drainOutbox } from "./durable.ts";
import { messagesOfTurn } from "./history.ts";
import { runMaintenance } from "./maintenance.ts";
import type { TurnRun } from "./turn-run.ts";

/**
 * Before a durable engine's turn: everything up to now is committed, or another
 * engine must answer this turn.
 */
export async function catchUp(run: TurnRun): Promise<void> {
  if (run.report.lifecycle !== "durable") return;
  const drained = await drainOutbox(run);
  if (!drained.ok)
    run.engine.setAside({
      operation: "commitTurn",
      code: "ENGINE_OPERATION_FAILED",
      reason: `turns not committed yet: ${drained.pending} (${drained.reason})`,
    });
}

export async function finalizeTurn(run: TurnRun, assembly: Assembly): Promise<void> {
  const ok =
    run.report.lifecycle === "durable"
      ? (await drainOutbox(run)).ok
      : await deliverTurn(run, assembly);
  if (ok) await runMaintenance(run, "turn");
}

async function deliverTurn(run: TurnRun, assembly: Assembly): Promise<boolean> {
  const { history, budget } = assembly;
  return deliverMessages(run, { history, turn: messagesOfTurn(run), budget });
}

/**
 * An engine of the eager lifecycle that cannot bootstrap from the transcript gets failed turns
 * with the next accepted one.
 */
export function keepForNextTurn(run: TurnRun): void {
  if (run.report.lifecycle === "durable" || typeof run.engine.bootstrap === "function") return;
  for (const message of messagesOfTurn(run)) {
    const entryId = run.state.entryIds.get(message);
    if (entryId !== undefined && !run.delivered.has(entryId)) run.state.undelivered.add(entryId);
  }
}
