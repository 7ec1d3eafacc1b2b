// Prunes old tool results from every view once the provider's prompt cache is cold.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelRef } from "@clew/plugin-sdk/host";
import {
  applySessionPrune,
  planSessionPrune,
  type SessionPruneSettings,
  sessionProjections,
  sessionPruneEntry,
} from "@clew/plugin-sdk/transcript";
import type { TurnRun } from "./turn-run.ts";

/**
 * Off unless a mode is set; then the model's own cache time is used, unless a time is set too.
 */
export function sessionPruneSettings(
  model: ModelRef,
  settings: Partial<SessionPruneSettings> = {},
): Partial<SessionPruneSettings> {
  const { cacheTtlMs } = model;
  return { mode: "off", ...(cacheTtlMs !== undefined && { ttlMs: cacheTtlMs }), ...settings };
}

/**
 * Decides for this turn, stores what is new, and gives the view. The transcript
 * keeps every result whole.
 */
export async function pruneAssembly(
  run: TurnRun,
  messages: readonly AgentMessage[],
): Promise<readonly AgentMessage[]> {
  const settings = sessionPruneSettings(run.model, run.settings.sessionPrune);
  const previous = sessionProjections(run.transcript.branch());
  const { projections, added } = planSessionPrune({
    messages,
    entryIdOf: (message) => run.state.entryIds.get(message),
    now: run.startedAt,
    lastCacheTouchAt: lastReplyAt(messages),
    contextWindow: run.model.contextWindow,
    settings,
    previous,
  });
  if (added.length > 0) {
    await run.transcript.append([sessionPruneEntry(added)]);
    run.ports.log.info(`session prune: ${added.length} tool results shortened in the view`, {
      sessionKey: run.session.sessionKey,
    });
  }
  run.projections = settings.mode === "off" ? [] : projections;
  return showPruned(run, messages);
}

/** The view of messages assembled later in the turn, by the decisions made at its start. */
export function showPruned(
  run: TurnRun,
  messages: readonly AgentMessage[],
): readonly AgentMessage[] {
  return applySessionPrune(messages, run.projections, (message) => run.state.entryIds.get(message));
}

/** Every call touches the provider's cache, so the newest reply tells when; ms since the epoch. */
function lastReplyAt(messages: readonly AgentMessage[]): number | undefined {
  return messages.findLast((message) => message.role === "assistant")?.timestamp;
}
