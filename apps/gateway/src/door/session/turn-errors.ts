// What clients are told of a turn that has no reply, in the dialect of their wire.
import type { TurnError } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { HTTP_STATUS, toErrorResponse } from "../../http/errors.ts";
import type { DoorAnswer, DoorWire } from "../wires/door-wire.ts";

/** By how the call of the model failed. */
const STATUS: Readonly<Record<TurnError["kind"], number>> = {
  overflow: 400,
  rate_limited: 429,
  overloaded: 503,
  unavailable: 502,
  network: 502,
  timeout: 504,
  auth: 401,
  billing: 402,
  not_found: 404,
  refused: 400,
  signature: 502,
  encrypted_content: 502,
  pairing: 502,
  reasoning_required: 502,
  cache_rejected: 502,
  invalid_request: 400,
  invalid_response: 502,
  aborted: 503,
  engine: 502,
  host: 500,
};

export function turnErrorAnswer(wire: DoorWire, { kind, code, message }: TurnError): DoorAnswer {
  const status = code === undefined ? STATUS[kind] : HTTP_STATUS[code];
  // Anthropic has a number of its own for it.
  const isOverloaded = kind === "overloaded" && wire.api === "anthropic-messages";
  return wire.error(isOverloaded ? 529 : status, message);
}

/** What was thrown before or beside a turn. */
export function thrownAnswer(wire: DoorWire, error: unknown): DoorAnswer {
  const { status, body } = toErrorResponse(error);
  return wire.error(status, body.error.message);
}

/** Those that only the log tells. */
export const isUnexpected = (error: unknown): boolean =>
  !ContextEngineError.is(error) && toErrorResponse(error).status === 500;
