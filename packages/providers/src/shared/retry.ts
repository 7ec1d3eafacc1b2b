// Decides whether and when a failed call is tried again.
import type { ModelError } from "@clew/plugin-sdk/host";

/** How often and how patiently a call is tried again. */
export interface RetryOptions {
  /** Tries after the first one. */
  maxRetries: number;
  /** Wait before the first retry in ms, doubled for each further one. */
  baseDelayMs: number;
  /** No wait is longer, ms; a provider that asks for more is not waited for. */
  maxDelayMs: number;
}

export const DEFAULT_RETRY: RetryOptions = { maxRetries: 2, baseDelayMs: 500, maxDelayMs: 30_000 };

export type RetryPlan = { kind: "retry"; delayMs: number } | { kind: "stop" };

/** A retry that is about to be waited for. */
export interface RetryNotice {
  /** Why. */
  error: ModelError;
  /** 1 = the first retry. */
  retry: number;
  /** How long the wait is. */
  delayMs: number;
}

/**
 * The plan after `retriesDone` retries ended in `error`. A stated Retry-After is honoured as it is;
 * otherwise the wait doubles, spread by ±20 % with `random` (0 ≤ x < 1) so that many clients do not
 * come back together.
 */
export function planRetry(input: {
  error: ModelError;
  retriesDone: number;
  options: RetryOptions;
  random: number;
}): RetryPlan {
  const { error, retriesDone, options, random } = input;
  if (retriesDone >= options.maxRetries || !isTransient(error)) return { kind: "stop" };
  const asked = error.kind === "rate_limited" ? error.retryAfterMs : undefined;
  if (asked !== undefined)
    return asked > options.maxDelayMs ? { kind: "stop" } : { kind: "retry", delayMs: asked };
  const delayMs = Math.min(
    options.baseDelayMs * 2 ** retriesDone * (0.8 + 0.4 * random),
    options.maxDelayMs,
  );
  return { kind: "retry", delayMs: Math.round(delayMs) };
}

/**
 * A timeout is tried again only when the server said so: having waited out our own limit, the same
 * wait would follow.
 */
function isTransient(error: ModelError): boolean {
  if (error.kind === "timeout") return error.status !== undefined;
  return TRANSIENT.has(error.kind);
}

const TRANSIENT: ReadonlySet<ModelError["kind"]> = new Set([
  "rate_limited",
  "overloaded",
  "unavailable",
  "network",
]);
