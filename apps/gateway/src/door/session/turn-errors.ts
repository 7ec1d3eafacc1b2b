// What clients are told of a turn that has no reply, in the dialect of their wire.
import type { TurnError } from "@clew/engine-core";
import { ContextEngineError, type ErrorCode, isAbort } from "@clew/plugin-sdk/core";
import { BacklogFull } from "../../waiting/refusals.ts";
import { errorStatus } from "../reply/error-status.ts";
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

export function turnErrorAnswer(wire: DoorWire, { kind, code, message }: TurnError): DoorAnswer {
  return wire.error((code && BY_CODE[code]) ?? errorStatus(wire.api, kind), message);
}

/** What was thrown before or beside a turn. */
export function thrownAnswer(wire: DoorWire, error: unknown): DoorAnswer {
  if (ContextEngineError.is(error)) {
    const answer = wire.error(BY_CODE[error.code] ?? 500, error.message);
    if (!(error instanceof BacklogFull)) return answer;
    return { ...answer, retryAfterSeconds: error.retryAfterSeconds };
  }
  return isAbort(error)
    ? wire.error(503, "The run was cancelled.")
    : wire.error(500, "Something unexpected happened; the log in CLEW_HOME/logs says what.");
}

/** Those that only the log tells. */
export const isUnexpected = (error: unknown): boolean =>
  !ContextEngineError.is(error) && !isAbort(error);
