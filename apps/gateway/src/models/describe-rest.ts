// Says in words how a model failed and how long it is left alone.
import type { FailureKind } from "@clew/engine-core";
import type { AgentModels } from "./agent-models.ts";
import type { Rest } from "./plan-rest.ts";

/** To go on with behind a model's name. */
export const WHAT_HAPPENED: Readonly<Record<FailureKind, string>> = {
  overflow: "could not hold the conversation",
  rate_limited: "wants a pause",
  overloaded: "is overloaded",
  unavailable: "failed",
  network: "could not be reached",
  timeout: "did not answer in time",
  auth: "did not accept its key",
  billing: "wants its bill paid",
  not_found: "is not there",
  refused: "did not answer what it was asked",
  signature: "refused signatures",
  encrypted_content: "could not read encrypted parts",
  pairing: "refused the order of tool calls",
  reasoning_required: "missed reasoning",
  cache_rejected: "refused what was asked of its cache",
  invalid_request: "refused a request",
  invalid_response: "sent no valid reply",
  aborted: "was stopped",
  engine: "was not asked: the engine failed",
  host: "was not asked: the host failed",
};

/** "2026-11-22 13:05" in UTC, as everywhere. */
export const timeOf = (iso: string): string => iso.slice(0, 16).replace("T", " ");

/** `isLeftAlone`: others are asked meanwhile. */
export function describeRest(rest: Rest, isLeftAlone: boolean): string {
  const what = WHAT_HAPPENED[rest.kind] ?? rest.kind;
  if (isLeftAlone) return `${what}; left alone until ${timeOf(rest.until)} UTC`;
  const when = rest.kind === "rate_limited" ? `until ${timeOf(rest.until)}` : timeOf(rest.at);
  return `${what}, ${when} UTC; asked all the same, as no other is there`;
}

/** Who answers in whose place and why, a sentence; null = the model of the settings answers. */
export function describeSubstitute(
  { answering, because, passedOver }: AgentModels,
  ofSettings: string,
): string | null {
  if (passedOver !== null)
    return `${answering.name} answers in place of ${passedOver.name}: ${passedOver.why}`;
  if (because === null) return null;
  return `${answering.name} answers in place of ${ofSettings}, which ${describeRest(because, true)}.`;
}
