// How an engine is told of turns.
import type { ContextEngineInfo } from "@clew/plugin-sdk/core";
import type { TurnReport } from "../report/turn-report.ts";

/** Durable when the engine declares both semantics and the host keeps a record of deliveries. */
export function lifecycleOf(
  info: ContextEngineInfo,
  host: { keepsDeliveries: boolean },
): TurnReport["lifecycle"] {
  const { currentTurnFence, turnAdvancementIdempotency } = info.transcriptSemantics ?? {};
  const declared =
    currentTurnFence === "before-current-turn-entry-v1" &&
    turnAdvancementIdempotency === "atomic-idempotent-v1";
  return declared && host.keepsDeliveries ? "durable" : "eager";
}
