// What clients are told of a turn that has no reply, in the dialect of their wire.
import type { TurnError, TurnReport } from "@clew/engine-core";
import { ContextEngineError, type ErrorCode, isAbort } from "@clew/plugin-sdk/core";
import { BacklogFull } from "../../waiting/refusals.ts";
import { errorStatus } from "../reply/error-status.ts";
import { tookTooLong } from "../reply/tell-ended.ts";
import type { DoorAnswer, DoorWire } from "../wires/door-wire.ts";

/** By the code of what went wrong here; what is not among them is nobody's fault but ours. */
const BY_CODE: { readonly [Code in ErrorCode]?: number } = {
  REQUEST_INVALID: 400,
  SESSION_NAME_INVALID: 400,
  COST_CAP_REACHED: 402,
  SESSION_NOT_FOUND: 404,
  SESSION_LOCKED: 409,
  BACKLOG_FULL: 429,
  CONFIG_INVALID: 503,
  ENGINE_NOT_FOUND: 503,
  GATEWAY_STOPPING: 503,
  SESSION_CLOSED: 503,
  ENGINE_TIMEOUT: 504,
  STORAGE_FAILED: 507,
};

/**
 * `report`: of the turn, whose last call may say when another one is worth it, and whether it is:
 * a model server that was silent may speak the next time.
 */
export function turnErrorAnswer(
  wire: DoorWire,
  { kind, code, message }: TurnError,
  report?: Pick<TurnReport, "modelCalls">,
): DoorAnswer {
  const last = report?.modelCalls.at(-1)?.failure;
  const failure = last?.kind === kind ? last : undefined;
  // That an address is none, or leads elsewhere, is not the client's fault.
  const isNowhere = kind === "not_found" && failure?.status !== 404;
  const ofModel = isNowhere ? 502 : errorStatus(wire.api, kind, failure?.status);
  const answer = wire.error((code && BY_CODE[code]) ?? ofModel, message);
  if (kind === "timeout" && failure === undefined) return tookTooLong(wire, message);
  if (kind !== "rate_limited" || failure?.retryAfterMs === undefined) return answer;
  return { ...answer, retryAfterSeconds: Math.ceil(failure.retryAfterMs / 1000) };
}

/** What was thrown before or beside a turn. */
export function thrownAnswer(wire: DoorWire, error: unknown): DoorAnswer {
  if (ContextEngineError.is(error)) {
    const answer = wire.error(BY_CODE[error.code] ?? 500, error.message);
    if (!(error instanceof BacklogFull)) return answer;
    return { ...answer, retryAfterSeconds: error.retryAfterSeconds };
  }
  return isAbort(error)
    ? wire.error(errorStatus(wire.api, "aborted"), "The run was cancelled.")
    : wire.error(500, "Something unexpected happened; the log in CLEW_HOME/logs says what.");
}

/** Those that only the log tells. */
export const isUnexpected = (error: unknown): boolean =>
  !ContextEngineError.is(error) && !isAbort(error);
