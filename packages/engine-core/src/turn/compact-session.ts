// Compacts a session outside a turn because a person asked for it.
import { planBudget } from "@clew/plugin-sdk/host";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { assertHostSupport, CLEW_EMBEDDED_HOST } from "../engine/host-support.ts";
import { FALLBACK_ENGINE_ID } from "../engine/registry.ts";
import type { TurnReport } from "../report.ts";
import { settleMaintenance } from "../session/maintenance-lane.ts";
import { type CompactionOutcome, compactThroughEngine } from "./compaction.ts";
import { readHistory, storeSideRecords } from "./history.ts";
import type { TurnRequest } from "./turn-request.ts";
import { openTurn } from "./turn-run.ts";

/** A turn's request without a prompt: what `/compact` needs. */
export interface CompactSessionRequest
  extends Omit<TurnRequest, "prompt" | "systemPrompt" | "kind" | "beforePromptBuild"> {
  /** What the summary should keep above all. Absent: nothing in particular. */
  customInstructions?: string;
}

/**
 * `/compact` (contract §3.8). The host must not call it while a turn of the same session runs. An
 * engine that cannot compact is a result with `compacted: false` and the reason; throws only
 * HOST_CAPABILITY_MISSING and aborts.
 */
export async function compactSession(
  request: CompactSessionRequest,
): Promise<{ result: CompactionOutcome; report: TurnReport }> {
  const { guard } = request.engine;
  if (guard.engineId !== FALLBACK_ENGINE_ID)
    assertHostSupport(guard.info(), "manual-compact", CLEW_EMBEDDED_HOST);
  const run = openTurn({ ...request, systemPrompt: [], prompt: { content: "" } });
  await settleMaintenance(run.state.maintenance, run.settings.maintenanceWaitMs, run.signal);
  const history = await readHistory(run);
  await storeSideRecords(run, history);
  const { promptBudget } = planBudget({
    contextWindow: run.model.contextWindow,
    reserveTokens: run.settings.reserveTokens,
  });
  const used =
    run.state.measurement?.tokens ?? Math.ceil(estimateMessages(history.messages).estimate);
  const result = await compactThroughEngine(run, {
    trigger: "manual",
    target: "threshold",
    tokenBudget: promptBudget,
    currentTokenCount: used,
    focus: request.customInstructions,
  });
  run.report.durationMs = run.ports.clock.monotonic() - run.startedMonotonic;
  run.report.outcome = result.ok ? "completed" : "failed";
  run.report.reason = result.ok ? null : (result.reason ?? null);
  return { result, report: run.report };
}
