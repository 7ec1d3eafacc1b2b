// Which HTTP status the failure of a model call is, in the dialect of a wire.
import type { TurnError } from "@clew/engine-core";
import type { DoorApi } from "../wires/door-wire.ts";

/** `status`: what the model server answered. Absent: it answered nothing, or nobody knows. */
export function errorStatus(api: DoorApi, kind: TurnError["kind"], status?: number): number {
  // A key that is known and may not is told from one that is not known.
  if (kind === "auth" && status === 403) return 403;
  // Anthropic has a number of its own for it.
  return kind === "overloaded" && api === "anthropic-messages" ? 529 : STATUS[kind];
}

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
  // Somebody ended it, and a client that asks again by itself would undo that.
  aborted: 400,
  engine: 502,
  host: 500,
};
