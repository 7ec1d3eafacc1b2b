// Step 1 of a turn, in which the engine sees a transcript that existed before the run.
import { isAbort } from "@clew/plugin-sdk/core";
import { describeError } from "../engine/quarantine.ts";
import { hostParams } from "./engine-params.ts";
import { runMaintenance } from "./maintenance.ts";
import type { TurnRun } from "./turn-run.ts";

/**
 * Before every run whose transcript exists (contract §3.1 step 2). A failure is logged and the run
 * goes on; an engine that reads the file itself must never be called before there is one.
 */
export async function bootstrapSession(run: TurnRun): Promise<void> {
  const { engine, hadSessionFile, ports, session } = run;
  if (!hadSessionFile) return;
  try {
    if (typeof engine.bootstrap === "function")
      await engine.bootstrap({
        ...hostParams(run, "before-turn", undefined),
        sessionFile: session.sessionFile,
      });
  } catch (error) {
    if (isAbort(error, run.signal)) throw error;
    ports.log.warn(`context engine bootstrap failed: ${describeError(error)}`);
    return;
  }
  await runMaintenance(run, "bootstrap");
}
