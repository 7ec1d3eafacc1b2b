// Last step of an accepted turn: the engine gets what is new, then may tidy up. Failed and aborted turns are remembered, not delivered.
import type { Assembly } from "./assembly.ts";
import { deliverMessages } from "./delivery.ts";
import { messagesOfTurn } from "./history.ts";
import { runMaintenance } from "./maintenance.ts";
import type { TurnRun } from "./turn-run.ts";

export async function finalizeTurn(run: TurnRun, assembly: Assembly): Promise<void> {
  const messages = [...assembly.history, ...messagesOfTurn(run)];
  const from = run.delivered ?? firstUndelivered(run, assembly) ?? assembly.history.length;
  const ok = await deliverMessages(run, { messages, from, budget: assembly.budget });
  run.state.undelivered.clear();
  if (ok) await runMaintenance(run, "turn");
}

/** An engine that cannot bootstrap from the transcript gets the messages of failed turns with the next accepted one. */
export function keepForNextTurn(run: TurnRun): void {
  if (typeof run.engine.bootstrap === "function") return;
  for (const message of messagesOfTurn(run)) {
    const entryId = run.state.entryIds.get(message);
    if (entryId !== undefined) run.state.undelivered.add(entryId);
  }
}

function firstUndelivered({ state }: TurnRun, { history }: Assembly): number | undefined {
  if (state.undelivered.size === 0) return undefined;
  const index = history.findIndex((message) => state.undelivered.has(state.entryIds.get(message) ?? ""));
  return index < 0 ? undefined : index;
}
