// Lets the engine tidy up.
import type { MaintenanceReason } from "../effects.ts";
import { ask, done, type Task } from "../step.ts";

/** A failure is logged and changes nothing else (contract §3.3). */
export const maintain = (reason: MaintenanceReason): Task => ({
  begin: (turn) => (mayMaintain(reason, turn) ? ask(turn, { do: "maintain", reason }) : done(turn)),
  take: (turn) => done(turn),
});

function mayMaintain(
  reason: MaintenanceReason,
  { setup, engine, delivery }: Parameters<Task["begin"]>[0],
): boolean {
  if (engine.aside !== null || !setup.engine.methods.has("maintain")) return false;
  if (reason === "bootstrap") return setup.hadSession;
  return delivery === null || delivery.failure === null;
}
