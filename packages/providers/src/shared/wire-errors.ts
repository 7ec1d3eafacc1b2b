// Says why a call failed, in a kind for hosts and a sentence for people.
import type { ModelError } from "@clew/plugin-sdk/host";
import { type FailureOrigin, quoted, who } from "./failure-origin.ts";
import { type GoogleStatus, readGoogleStatus } from "./google-status.ts";
import { networkError } from "./network-errors.ts";
import {
  isOverflow,
  isRequestCeiling,
  namedWindow,
  observedTokens,
  promptTokens,
} from "./overflow.ts";
import {
  isBilling,
  isContentRefusal,
  isNotFound,
  isOverloaded,
  isSignIn,
  REFUSAL_ADVICE,
  refusalKind,
} from "./refusals.ts";

/** What went wrong, as far as it is known. */
export type Failure =
  /** An answer that is not 2xx. */
  | { kind: "http"; status: number; headers?: { get(name: string): string | null }; body: string }
  /** An error told in words: inside a stream, or kept in a stored message. */
  | { kind: "text"; text: string; status?: number }
  /** No answer, or one that broke off (`started`). */
  | { kind: "network"; cause: unknown; started?: boolean };

/**
 * Classifies a failure; engine-core decides by `kind` alone. Order: what the status alone decides
 * (sign-in, throttling), then overflow by `overflow.ts`, then the other statuses. The message holds
 * no key and at most 300 characters of the provider's words.
 */
export function classifyError(failure: Failure, origin: FailureOrigin): ModelError {
  switch (failure.kind) {
    case "network":
      return networkError(failure.cause, failure.started ?? false, origin);
    case "text":
      return describedError(failure.text, failure.status, undefined, origin);
    case "http":
      return describedError(failure.body, failure.status, failure.headers, origin);
  }
}

/** The caller ended the call: nobody's failure. */
export function abortError(): ModelError {
  return { kind: "aborted", message: "The call was aborted." };
}

/** Nothing arrived for `idleMs`; `setting` allows more. */
export function idleError(
  { idleMs, setting }: { idleMs: number; setting?: string | undefined },
  origin: FailureOrigin,
): ModelError {
  const more = setting === undefined ? "allow it more time" : `allow it more time with ${setting}`;
  return {
    kind: "timeout",
    message: `${who(origin)} sent nothing for ${idleMs / 1000} s; try again, or ${more}.`,
  };
}

/** The answer went on and on. */
export function endlessError(maxDurationMs: number, origin: FailureOrigin): ModelError {
  const message = `${who(origin)} had not ended its answer after ${maxDurationMs / 1000} s; ask for less, or allow it more time.`;
  return { kind: "timeout", message };
}

/** The server wants the request somewhere else: nothing is sent there, it would hold the key. */
export function redirectError(
  { status, headers }: { status: number; headers: { get(name: string): string | null } },
  origin: FailureOrigin,
): ModelError {
  const target = headers.get("location") ?? "";
  const { baseUrl } = origin.endpoint;
  // Without a query, in which a secret may stand.
  const url = URL.canParse(target, baseUrl) ? new URL(target, baseUrl) : undefined;
  const where = url === undefined ? "" : `to ${quoted(url.origin + url.pathname, origin)} `;
  const message = `${who(origin)} sent the request on ${where}(${status}), which is not followed because it holds the key; if that address is right, make it the base URL.`;
  return { kind: "not_found", message, ...(status > 0 && { status }) };
}

/** A 2xx answer of no bytes at all. */
export function emptyAnswerError(origin: FailureOrigin): ModelError {
  const message = `${who(origin)} sent an empty answer; try again, or check that the base URL leads to the API.`;
  return { kind: "network", message };
}

/** The provider took a prompt that did not fit, without a word. */
export function silentOverflowError(
  observedTokens: number,
  contextWindow: number,
  origin: FailureOrigin,
): ModelError {
  const message = `${who(origin)} counted ${observedTokens} prompt tokens for a window of ${contextWindow}, so its reply cannot be trusted; make the context smaller, or correct the model's window.`;
  return { kind: "overflow", message, observedTokens, promptTokens: observedTokens };
}

/** The provider answered with something that is no valid reply; `what` completes "… sent". */
export function invalidResponse(what: string, origin: FailureOrigin): ModelError {
  return { kind: "invalid_response", message: `${who(origin)} sent ${what}` };
}

/** Whatever it says, it is more than a reply can be. */
export function answerTooLarge(
  { bytes, setting }: { bytes: number; setting: string },
  origin: FailureOrigin,
): ModelError {
  const what = `more than ${Math.floor(bytes / 1024)} KiB in one answer, so it was not read on; see what that server sends, or raise ${setting}.`;
  return invalidResponse(what, origin);
}

function describedError(
  body: string,
  status: number | undefined,
  headers: { get(name: string): string | null } | undefined,
  origin: FailureOrigin,
): ModelError {
  const { words, code, google } = errorWords(body);
  const told = { words, code, status };
  const detail = quoted(words, origin);
  const base = (next: string) => ({
    message: `${who(origin)} answered ${status === undefined ? "with an error" : status}${detail === "" ? "" : `: ${detail}`}; ${next}.`,
    ...(status !== undefined && { status }),
  });
  if (isBilling(told) || google.hasNoQuota)
    return {
      kind: "billing",
      ...base(`see to the bill of the account at provider "${origin.provider}"`),
    };
  if (isSignIn(told)) return { kind: "auth", ...base(signInAdvice(origin)) };
  if (isRequestCeiling(words))
    return {
      kind: "invalid_request",
      ...base(
        "this account may not send so many tokens at once: shorten the request or raise its limit",
      ),
    };
  if (status === 429 || RATE_LIMIT_CODES.has(code) || RATE_LIMIT_WORDS.test(words)) {
    const retryAfterMs = readRetryAfter(headers, origin.now ?? Date.now) ?? google.retryAfterMs;
    return {
      kind: "rate_limited",
      ...base(
        retryAfterMs === undefined
          ? "wait and try again"
          : `wait ${waitText(retryAfterMs)} and try again`,
      ),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
  }
  if (
    isOverflow({ text: words, ...(status !== undefined && { status }) }) ||
    isOverflow({ text: code })
  ) {
    const observed = observedTokens(words);
    const prompt = promptTokens(words);
    const named = namedWindow(words);
    return {
      kind: "overflow",
      ...base("make the context smaller or choose a model with a larger window"),
      ...(observed !== undefined && { observedTokens: observed }),
      ...(prompt !== undefined && { promptTokens: prompt }),
      ...(named !== undefined && { windowTokens: named }),
    };
  }
  if (status === 408 || status === 504 || code === "DEADLINE_EXCEEDED")
    return { kind: "timeout", ...base("try again") };
  if (isOverloaded(told)) return { kind: "overloaded", ...base("try again later") };
  // 424: the model behind the provider failed.
  if ((status !== undefined && (status >= 500 || status === 424)) || UNAVAILABLE_CODES.has(code))
    return { kind: "unavailable", ...base("try again later") };
  const refusal = refusalKind(`${code} ${words}`);
  if (refusal !== undefined) return { kind: refusal, ...base(REFUSAL_ADVICE[refusal]) };
  if (isContentRefusal(told))
    return { kind: "refused", ...base("it does not answer this: say it differently") };
  if (isNotFound(told))
    return { kind: "not_found", ...base(`check the model's name${whereAsked(origin)}`) };
  return {
    kind: "invalid_request",
    ...base("the request must be changed before it is sent again"),
  };
}

/** A request that held no key says nothing of the account. */
const signInAdvice = ({ provider, endpoint, secrets }: FailureOrigin): string =>
  secrets?.length === 0 && endpoint.apiKey === undefined
    ? `no key was sent to provider "${provider}", so set one`
    : `check the key and account of provider "${provider}"`;

/** As exactly as a person waits. */
function waitText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

const whereAsked = ({ api }: FailureOrigin): string =>
  api === undefined ? " and the base URL" : `, the base URL and the api, which was "${api}"`;

const RATE_LIMIT_CODES = new Set([
  "rate_limit_exceeded",
  "rate_limit_error",
  "RESOURCE_EXHAUSTED",
  "RATE_LIMIT_EXCEEDED",
  "ThrottlingException",
]);
const RATE_LIMIT_WORDS = /^ThrottlingException\b/;
const UNAVAILABLE_CODES = new Set([
  "INTERNAL",
  "server_error",
  "internal_server_error",
  "api_error",
  "timeout_error",
]);

/**
 * The provider's own words and error code, from the shapes in use: `{error: {message, code,
 * type}}`, `{error: {message, status, details}}`, `{error: "…"}`, `{message}`, plain text.
 */
function errorWords(body: string): { words: string; code: string; google: GoogleStatus } {
  const parsed = parseJson(body);
  const outer = Array.isArray(parsed) ? parsed[0] : parsed;
  if (typeof outer !== "object" || outer === null)
    return { words: body.startsWith("<") ? "" : body, code: "", google: NOT_GOOGLES };
  const { error } = outer as { error?: unknown };
  if (typeof error === "string") return { words: error, code: "", google: NOT_GOOGLES };
  const inner = (typeof error === "object" && error !== null ? error : outer) as ErrorFields;
  const google = readGoogleStatus(inner);
  return {
    words: firstText(inner.message, inner.detail, inner.msg),
    code: firstText(inner.code, inner.type, google.reason),
    google,
  };
}

const NOT_GOOGLES = readGoogleStatus(undefined);

interface ErrorFields {
  message?: unknown;
  detail?: unknown;
  msg?: unknown;
  code?: unknown;
  type?: unknown;
}

function firstText(...values: unknown[]): string {
  return values.find((value) => typeof value === "string") ?? "";
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** ms, from `retry-after-ms` or `retry-after` (seconds or an HTTP date). */
function readRetryAfter(
  headers: { get(name: string): string | null } | undefined,
  now: () => number,
): number | undefined {
  const ms = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (ms >= 0) return Math.ceil(ms);
  const value = headers?.get("retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now());
}
