// When the engine may tidy up: after bootstrap, after an accepted turn and after a compaction.
import { isAbort } from "@clew/plugin-sdk/core";
import { hostParams } from "./engine-params.ts";
import { describeError } from "./quarantine.ts";
import type { TurnRun } from "./turn-run.ts";

export type MaintenanceReason = "bootstrap" | "turn" | "compaction";

/** Foreground maintenance; its failure is logged and changes nothing else (contract §3.3). */
export async function runMaintenance(run: TurnRun, reason: MaintenanceReason): Promise<void> {
  const { engine, ports, session } = run;
  if (typeof engine.maintain !== "function") return;
  const phase = reason === "bootstrap" ? "before-turn" : "after-turn";
  try {
    const result = await engine.maintain({
      ...hostParams(run, phase, undefined),
      sessionFile: session.sessionFile,
      abortSignal: run.signal,
    });
    if (result?.changed)
      ports.log.info(
        `[context-engine] maintenance(${reason}) changed transcript rewrittenEntries=${result.rewrittenEntries} ` +
          `bytesFreed=${result.bytesFreed} sessionKey=${session.sessionKey}`,
      );
  } catch (error) {
    if (isAbort(error, run.signal)) throw error;
    ports.log.warn(`context engine maintain failed (${reason}): ${describeError(error)}`);
  }
}
