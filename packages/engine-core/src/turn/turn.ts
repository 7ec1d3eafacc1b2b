// The order of one turn, from bootstrap to report.
import { type AssistantMessage, ContextEngineError, isAbort } from "@clew/plugin-sdk/core";
import { assertHostSupport, CLEW_EMBEDDED_HOST } from "../engine/host-support.ts";
import { describeError } from "../engine/quarantine.ts";
import { FALLBACK_ENGINE_ID } from "../engine/registry.ts";
import { settleMaintenance } from "../session/maintenance-lane.ts";
import { type Assembly, assembleContext } from "./assembly.ts";
import { autoCompact } from "./auto-compaction.ts";
import { bootstrapSession } from "./bootstrap.ts";
import { catchUp, finalizeTurn, keepForNextTurn } from "./finalize.ts";
import { readHistory, storeSideRecords } from "./history.ts";
import { type LoopFailure, runModelLoop } from "./model-loop.ts";
import { admitPrompt } from "./prompt.ts";
import { overflowMessage, recover } from "./recovery.ts";
import type { TurnError, TurnRequest, TurnResult } from "./turn-request.ts";
import { openTurn, type TurnRun } from "./turn-run.ts";

/**
 * Runs one turn: the person's message in, the model's accepted reply out, everything that happened
 * in the report (contract §3). What a model, tool or engine did wrong is in the result; throws only
 * HOST_CAPABILITY_MISSING, before anything ran.
 */
export async function runTurn(request: TurnRequest): Promise<TurnResult> {
  if (request.engine.guard.engineId !== FALLBACK_ENGINE_ID)
    assertHostSupport(request.engine.guard.info(), "agent-run", CLEW_EMBEDDED_HOST);
  const run = openTurn(request);
  try {
    run.signal.throwIfAborted();
    await settleMaintenance(run.state.maintenance, run.settings.maintenanceWaitMs, run.signal);
    await catchUp(run);
    await bootstrapSession(run);
    for (;;) {
      const history = await readHistory(run);
      await storeSideRecords(run, history);
      const assembly = await assembleContext(run, history);
      const prompt = await admitPrompt(run, assembly);
      const outcome = await runModelLoop(run, assembly, prompt);
      if (outcome.kind === "completed") return await accept(run, assembly, outcome.message);
      if (outcome.kind === "failed" && !(await recover(run, assembly, outcome)))
        return await refuse(run, outcome);
    }
  } catch (error) {
    keepForNextTurn(run);
    return close(run, null, toTurnError(run, error));
  }
}

async function accept(
  run: TurnRun,
  assembly: Assembly,
  reply: AssistantMessage,
): Promise<TurnResult> {
  try {
    await finalizeTurn(run, assembly);
    await autoCompact(run, assembly);
  } catch (error) {
    // The reply is stored and stands; only what follows it was cut short.
    if (!isAbort(error, run.signal))
      run.ports.log.error(`after the reply: ${describeError(error)}`);
    keepForNextTurn(run);
  }
  return close(run, reply, null);
}

/** Keeps what had arrived, marked as failed or aborted, so that the record tells what happened. */
async function refuse(run: TurnRun, failure: LoopFailure): Promise<TurnResult> {
  const { error, partial } = failure;
  const text = error.kind === "overflow" ? overflowMessage(run, failure) : error.message;
  const stopReason = error.kind === "aborted" ? "aborted" : "error";
  const message: AssistantMessage = {
    ...partial,
    stopReason,
    errorMessage: text,
    timestamp: run.ports.clock.now(),
  };
  const [entry] = await run.transcript.append([{ type: "message", message }]);
  run.emit({ type: "message", entryId: entry!.id, message });
  keepForNextTurn(run);
  return close(run, null, { kind: error.kind, message: text });
}

function toTurnError(run: TurnRun, error: unknown): TurnError {
  if (isAbort(error, run.signal)) return { kind: "aborted", message: "The run was cancelled." };
  run.ports.log.error(`turn failed: ${describeError(error)}`, {
    sessionKey: run.session.sessionKey,
  });
  return {
    kind: run.engine.degraded === null ? "host" : "engine",
    ...(ContextEngineError.is(error) && { code: error.code }),
    message: describeError(error),
  };
}

function close(run: TurnRun, reply: AssistantMessage | null, error: TurnError | null): TurnResult {
  const { report, ports } = run;
  report.outcome = error === null ? "completed" : error.kind === "aborted" ? "aborted" : "failed";
  if (error !== null) report.code = error.code ?? error.kind;
  report.reason = error?.message ?? null;
  report.durationMs = ports.clock.monotonic() - run.startedMonotonic;
  const engineMs = report.engineCalls.reduce((sum, call) => sum + call.durationMs, 0);
  report.hostMs = Math.max(0, report.durationMs - run.waitedMs - engineMs);
  report.engine.degraded = run.engine.degraded ?? run.request.engine.degraded;
  return { outcome: report.outcome, reply, error, report, parts: run.parts };
}
