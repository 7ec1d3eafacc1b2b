// Says how a turn ended, as those who watched it are told.
import type { TurnReport, TurnResult } from "@clew/engine-core";
import { ContextEngineError, isAbort } from "@clew/plugin-sdk/core";
import { cacheOf, type TurnCache } from "../models/turn-cache.ts";
import { MessageTakenBack } from "../waiting/taken-back.ts";

export interface Ending {
  outcome: TurnResult["outcome"];
  error: TurnResult["error"];
  /** Null: it could not begin. */
  turnId: string | null;
  replyEntryId: string | null;
  /** Why the reply ended, as the last call's report says. Absent: no model was asked. */
  stopReason?: string | null;
  /** Who was asked for, who answered, and why another one did. Absent: no model was asked. */
  model?: TurnReport["model"];
  /** What the last call read from the provider's cache, and should have. Absent: not known. */
  cache?: TurnCache;
}

export function endingOf({ outcome, error, report }: TurnResult): Ending {
  const { turnId, replyEntryId, model, modelCalls } = report;
  const { stopReason } = modelCalls.at(-1) ?? {};
  const cache = cacheOf(modelCalls);
  return {
    ...{ outcome, error, turnId, replyEntryId, model },
    ...(stopReason !== undefined && { stopReason }),
    ...(cache !== undefined && { cache }),
  };
}

/** Of a turn that threw. */
export function brokenEnding(error: unknown): Ending {
  const nothing = { turnId: null, replyEntryId: null };
  if (isAbort(error)) {
    const message = error instanceof MessageTakenBack ? error.message : "The run was cancelled.";
    return { outcome: "aborted", error: { kind: "aborted", message }, ...nothing };
  }
  const message = ContextEngineError.is(error)
    ? error.message
    : "The gateway failed in the middle of the turn; its log says how.";
  return { outcome: "failed", error: { kind: "host", message }, ...nothing };
}
