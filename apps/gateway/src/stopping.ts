// What those are told who want something of a gateway that is ending.
import type { TurnResult } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";

export const gatewayStopping = (): ContextEngineError =>
  new ContextEngineError(
    "GATEWAY_STOPPING",
    "The gateway is stopping; send it again when it has been started again.",
  );

/** A turn that was cancelled by the end of the gateway says so. */
export function withStopReason(result: TurnResult): TurnResult {
  if (result.error?.kind !== "aborted") return result;
  const message = "The gateway is stopping; what had arrived is kept.";
  return {
    ...result,
    error: { ...result.error, message },
    report: { ...result.report, reason: message },
  };
}
