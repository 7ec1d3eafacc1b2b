// What those are told whose work is ended, by the gateway's end or by whoever started it.
import type { TurnResult } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";

export const gatewayStopping = (): ContextEngineError =>
  new ContextEngineError(
    "GATEWAY_STOPPING",
    "The gateway is stopping; send it again when it has been started again.",
  );

/** Of a turn in `clew start` or in a chat. */
export const IS_STOPPING = "The program is stopping; what had arrived is kept.";

/** An abort whose message tells whoever reads of the turn why it was ended. */
export class EndedEarly extends DOMException {
  constructor(why: string) {
    super(why, "AbortError");
  }
}

/** One that nobody wished for: the time that its turn had is over. */
export class TimeIsUp extends EndedEarly {}

/** A turn that was cancelled says why, where that is known. */
export function withStopReason(
  result: TurnResult,
  { isStopping, abortedBy }: { isStopping: boolean; abortedBy: unknown },
): TurnResult {
  if (result.error?.kind !== "aborted") return result;
  const message = isStopping
    ? IS_STOPPING
    : abortedBy instanceof EndedEarly
      ? abortedBy.message
      : undefined;
  if (message === undefined) return result;
  if (!isStopping && abortedBy instanceof TimeIsUp) return tookTooLong(result, message);
  const code = isStopping ? ("GATEWAY_STOPPING" as const) : result.error.code;
  return {
    ...result,
    error: { ...result.error, message, ...(code !== undefined && { code }) },
    report: { ...result.report, reason: message },
  };
}

/** A turn is not over because somebody wished it where its time was up. */
export const tookTooLong = (result: TurnResult, message: string): TurnResult => ({
  ...result,
  outcome: "failed",
  error: { kind: "timeout", message },
  report: { ...result.report, outcome: "failed", reason: message },
});
