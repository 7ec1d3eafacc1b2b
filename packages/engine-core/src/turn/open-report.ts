// The report of a turn as it starts.
import type { ContextEngineInfo } from "@clew/plugin-sdk/core";
import type { TurnReport } from "../report.ts";
import type { TurnRequest } from "./turn-request.ts";

/** Durable when the engine declares both semantics and the host keeps an outbox for it. */
export function lifecycleOf(
  info: ContextEngineInfo,
  host: { keepsOutbox: boolean },
): TurnReport["lifecycle"] {
  const { currentTurnFence, turnAdvancementIdempotency } = info.transcriptSemantics ?? {};
  const declared =
    currentTurnFence === "before-current-turn-entry-v1" &&
    turnAdvancementIdempotency === "atomic-idempotent-v1";
  return declared && host.keepsOutbox ? "durable" : "eager";
}

export function newReport({ engine, ports, model, requestedModel }: TurnRequest): TurnReport {
  const info = engine.guard.info();
  const resolved = `${model.provider}/${model.id}`;
  const { sessionId, sessionKey } = ports.transcript.session;
  return {
    v: 1,
    turnId: ports.ids.next(),
    sessionId,
    sessionKey,
    startedAt: new Date(ports.clock.now()).toISOString(),
    durationMs: 0,
    hostMs: 0,
    outcome: "completed",
    reason: null,
    model: { requested: requestedModel ?? resolved, resolved, api: model.api },
    engine: {
      configured: engine.configured,
      ran: engine.guard.engineId,
      infoId: info.id,
      name: info.name,
      source: engine.source,
      ownsCompaction: info.ownsCompaction === true,
      degraded: engine.degraded,
      projection: null,
    },
    lifecycle: lifecycleOf(info, { keepsOutbox: ports.transcript.outbox !== undefined }),
    engineCalls: [],
    budget: null,
    promptEntryId: null,
    replyEntryId: null,
    historyChanges: [],
    modelCalls: [],
    toolCalls: [],
    compactions: [],
  };
}
