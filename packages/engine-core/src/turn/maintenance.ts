// When the engine may tidy up, and whether the reply waits for it.
import { type ContextEngine, isAbort } from "@clew/plugin-sdk/core";
import { describeError } from "../engine/quarantine.ts";
import { requestMaintenance } from "../session/maintenance-lane.ts";
import { delegatedCompaction } from "./delegated-compaction.ts";
import { hostParams } from "./engine-params.ts";
import type { TurnRun } from "./turn-run.ts";

export type MaintenanceReason = "bootstrap" | "turn" | "compaction";

/**
 * A failure is logged and changes nothing else (contract §3.3). Only maintenance after a turn
 * may run in the background.
 */
export async function runMaintenance(run: TurnRun, reason: MaintenanceReason): Promise<void> {
  if (typeof run.engine.maintain !== "function") return;
  if (reason === "turn" && run.engine.info.turnMaintenanceMode === "background")
    startInBackground(run);
  else await maintain(run, run.engine, reason, run.signal, false);
}

function startInBackground(run: TurnRun): void {
  requestMaintenance(run.state.maintenance, async (signal) => {
    // A scope of its own: the turn, its report and its signal are over.
    const engine = run.request.engine.guard.enter({ signal, ...delegatedCompaction(run.ports) });
    try {
      await maintain(run, engine, "turn", signal, true);
    } catch (error) {
      run.ports.log.warn(`deferred context engine maintenance ended: ${describeError(error)}`);
    }
  });
}

async function maintain(
  run: TurnRun,
  engine: ContextEngine,
  reason: MaintenanceReason,
  signal: AbortSignal,
  background: boolean,
): Promise<void> {
  const { ports, session } = run;
  const phase = reason === "bootstrap" ? "before-turn" : "after-turn";
  try {
    const result = await engine.maintain?.({
      ...hostParams(run, phase, undefined, {
        background,
        llmPurpose: `context-engine.${reason}.maintenance`,
      }),
      sessionFile: session.sessionFile,
      abortSignal: signal,
    });
    if (result?.changed)
      ports.log.info(
        `[context-engine] maintenance(${reason}) changed transcript rewrittenEntries=${result.rewrittenEntries} ` +
          `bytesFreed=${result.bytesFreed} sessionKey=${session.sessionKey}`,
      );
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    const what = background
      ? "deferred context engine maintenance failed"
      : `context engine maintain failed (${reason})`;
    ports.log.warn(`${what}: ${describeError(error)}`);
  }
}
