// Decides whether a session may move to the transcript that a compaction made for it.
import type { CompactResult } from "@clew/plugin-sdk/core";
import type { HostSession } from "../transcript-port.ts";

export type SuccessorPlan =
  | { kind: "none" }
  | { kind: "adopt"; sessionId: string; sessionFile: string | undefined }
  | { kind: "refuse"; reason: string };

/**
 * Contract §3.8: the same id is nothing to adopt; another agent, key or store, or an
 * unsuccessful compaction, is refused.
 */
export function planSuccessor(
  current: HostSession,
  { ok, compacted, result }: CompactResult,
): SuccessorPlan {
  const target = result?.sessionTarget;
  const sessionId = target?.sessionId ?? result?.sessionId;
  if (sessionId === undefined || sessionId === current.sessionId) return { kind: "none" };
  if (!ok || !compacted)
    return {
      kind: "refuse",
      reason: "Cannot accept a successor without a successful completed compaction",
    };
  if (
    target !== undefined &&
    result?.sessionId !== undefined &&
    target.sessionId !== result.sessionId
  )
    return { kind: "refuse", reason: "successor session target conflicts with its session id" };
  if (target !== undefined && target.agentId !== current.agentId)
    return { kind: "refuse", reason: "successor agent conflicts with the current session" };
  if (target?.sessionKey !== undefined && target.sessionKey !== current.sessionKey)
    return { kind: "refuse", reason: "successor session key conflicts with the current session" };
  return { kind: "adopt", sessionId, sessionFile: result?.sessionFile };
}
