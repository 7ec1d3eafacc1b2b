// Rewrites stored messages for an engine and updates what the run remembers of them.
import type { TranscriptRewriteRequest, TranscriptRewriteResult } from "@clew/plugin-sdk/core";
import type { TurnRun } from "./turn-run.ts";

/**
 * `runtimeContext.rewriteTranscriptEntries` (contract §1.5). The originals stay in the file on
 * the branch that was left.
 */
export async function rewriteEntries(
  run: TurnRun,
  request: TranscriptRewriteRequest,
): Promise<TranscriptRewriteResult> {
  const { remapped = new Map<string, string>(), ...result } = await run.transcript.rewrite(request);
  if (!result.changed) return result;
  const { report, state } = run;
  const renamed = (id: string) => remapped.get(id) ?? id;
  if (report.promptEntryId !== null) report.promptEntryId = renamed(report.promptEntryId);
  if (report.replyEntryId !== null) report.replyEntryId = renamed(report.replyEntryId);
  state.undelivered = new Set([...state.undelivered].map(renamed));
  run.delivered = new Set([...run.delivered].map(renamed));
  state.measurement = undefined;
  const { outbox } = run.transcript;
  const engineId = run.request.engine.guard.engineId;
  const cursor = outbox?.cursor(engineId);
  if (cursor?.entryId && remapped.has(cursor.entryId))
    await outbox?.save({ ...cursor, entryId: renamed(cursor.entryId) });
  return result;
}
