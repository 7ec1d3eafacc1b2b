// Decides whether another model answers after one failed, and which.
import type { ReasonCode } from "@clew/plugin-sdk/core";
import type { CallAsk, ModelError, ModelRef, WaterSettings } from "@clew/plugin-sdk/host";

/** A model that may answer, and how it is asked. */
export interface ModelChoice {
  /** Who answers. */
  model: ModelRef;
  /** What its calls ask besides their messages. Absent: the provider's defaults. */
  ask?: CallAsk;
  /** As `TurnRequest.leftOut`, for this model. Absent: nothing. */
  leftOut?: readonly string[];
  /** As `TurnSettings.tokenRatio`, for this model. Absent: 1. */
  tokenRatio?: number;
  /** As `TurnSettings.water`, for this model. Absent: {}. */
  water?: WaterSettings;
}

/** Failures that another model may not have. */
const OF_THE_MODEL: ReadonlySet<ModelError["kind"]> = new Set<ModelError["kind"]>([
  "auth",
  "billing",
  "overloaded",
  "unavailable",
  "rate_limited",
  "network",
  "timeout",
  "not_found",
  "invalid_response",
  "signature",
  "encrypted_content",
  "pairing",
  "reasoning_required",
  "cache_rejected",
]);

/** Failures of a provider's account or address: its other models have them too. */
const OF_THE_PROVIDER: ReadonlySet<ModelError["kind"]> = new Set<ModelError["kind"]>([
  "auth",
  "billing",
  "network",
]);

/**
 * The place in `candidates` of the model that answers instead; undefined where none would do
 * better. An abort is nobody's failure, a request that is refused for what it says stays refused,
 * and what is too large goes only to a model that holds more.
 */
export function planFallback(
  { kind }: Pick<ModelError, "kind">,
  model: ModelRef,
  candidates: readonly ModelChoice[],
): number | undefined {
  const isBetter = ({ model: other }: ModelChoice): boolean => {
    if (kind === "overflow") return other.contextWindow > model.contextWindow;
    return OF_THE_MODEL.has(kind) && !(OF_THE_PROVIDER.has(kind) && isSameAccount(other, model));
  };
  const found = candidates.findIndex(isBetter);
  return found < 0 ? undefined : found;
}

const isSameAccount = (left: ModelRef, right: ModelRef): boolean =>
  left.provider === right.provider && left.account === right.account;

/** The reason as engines are told it. */
export function reasonCodeOf(kind: ModelError["kind"]): ReasonCode {
  switch (kind) {
    case "rate_limited":
      return "rate_limited";
    case "timeout":
      return "provider_timeout";
    case "overflow":
      return "context_overflow";
    default:
      return "provider_unavailable";
  }
}

/** What happened to a model, to go on with behind its name. */
export const WHAT_HAPPENED: Readonly<Record<ModelError["kind"], string>> = {
  overflow: "cannot hold this conversation",
  rate_limited: "wants a pause",
  overloaded: "is overloaded",
  unavailable: "failed",
  network: "could not be reached",
  timeout: "did not answer in time",
  auth: "did not accept its key",
  billing: "wants its bill paid",
  not_found: "is not there",
  refused: "does not answer this",
  signature: "refused the signatures of the request",
  encrypted_content: "could not read what it had encrypted",
  pairing: "refused the order of tool calls",
  reasoning_required: "missed the reasoning behind its calls",
  cache_rejected: "refused what was asked of its cache",
  invalid_request: "refused the request",
  invalid_response: "sent no valid reply",
  aborted: "was stopped",
};
