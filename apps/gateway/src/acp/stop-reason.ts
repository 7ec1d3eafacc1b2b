// Decides with which reason a prompt of an editor ends, or with which error.
import type { StopReason } from "@agentclientprotocol/sdk";
import type { TurnResult } from "@clew/engine-core";
import { AcpRefusal } from "./refusal.ts";

export interface StopFacts {
  result: Pick<TurnResult, "outcome" | "error"> & {
    report: Pick<TurnResult["report"], "modelCalls">;
  };
  /** The gateway ends, and no person stopped the turn. */
  isStopping: boolean;
  /** How many model calls a turn may make. */
  maxModelCalls: number;
}

/** Pure. Throws AcpRefusal for a turn that failed. */
export function planStop({ result, isStopping, maxModelCalls }: StopFacts): StopReason {
  const { outcome, error, report } = result;
  const last = report.modelCalls.at(-1)?.stopReason;
  if (outcome === "completed") return last === "length" ? "max_tokens" : "end_turn";
  if (outcome === "aborted" && !isStopping) return "cancelled";
  const { kind, code, message } = error ?? { kind: "host", message: "The turn failed." };
  if (kind === "invalid_response" && report.modelCalls.length >= maxModelCalls)
    return "max_turn_requests";
  const data = { code: isStopping ? "GATEWAY_STOPPING" : (code ?? kind), kind };
  throw new AcpRefusal(-32603, message, data);
}
