// Says why a call failed, in a kind for hosts and a sentence for people.
import type { ModelError } from "@clew/plugin-sdk/host";
import type { Endpoint } from "../provider.ts";
import { type GoogleStatus, readGoogleStatus } from "./google-status.ts";
import { isOverflow, isRequestCeiling, namedWindow, observedTokens } from "./overflow.ts";
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

/** Whose failure it is. */
export interface FailureOrigin {
  /** `ModelRef.provider`. */
  provider: string;
  /** Where the call went. */
  endpoint: Endpoint;
  /** ms since the epoch, for a Retry-After that is a date. Default: the wall clock. */
  now?: () => number;
  /** What no message may repeat, beside the endpoint's key. Default: nothing else. */
  secrets?: readonly string[];
}

/** Characters of a provider's own words that a message repeats. */
const DETAIL_LIMIT = 300;

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

/** Nothing arrived for `idleMs`. */
export function idleError(idleMs: number, origin: FailureOrigin): ModelError {
  return {
    kind: "timeout",
    message: `${who(origin)} sent nothing for ${idleMs / 1000} s; try again, or allow it more time.`,
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
  const where = URL.canParse(target, origin.endpoint.baseUrl)
    ? `to ${new URL(target, origin.endpoint.baseUrl).origin} `
    : "";
  const message = `${who(origin)} sent the request on ${where}(${status}), which is not followed because it holds the key; if that address is right, make it the base URL.`;
  return { kind: "invalid_request", message, ...(status > 0 && { status }) };
}

/** The provider took a prompt that did not fit, without a word. */
export function silentOverflowError(
  observedTokens: number,
  contextWindow: number,
  origin: FailureOrigin,
): ModelError {
  const message = `${who(origin)} counted ${observedTokens} prompt tokens for a window of ${contextWindow}, so its reply cannot be trusted; make the context smaller, or correct the model's window.`;
  return { kind: "overflow", message, observedTokens };
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
  const detail = clip(redact(words, [origin.endpoint.apiKey ?? "", ...(origin.secrets ?? [])]));
  const base = (next: string) => ({
    message: `${who(origin)} answered ${status === undefined ? "with an error" : status}${detail === "" ? "" : `: ${detail}`}; ${next}.`,
    ...(status !== undefined && { status }),
  });
  if (isBilling(told) || google.hasNoQuota)
    return {
      kind: "billing",
      ...base(`see to the bill of the account at provider "${origin.provider}"`),
    };
  if (isSignIn(told))
    return { kind: "auth", ...base(`check the key and account of provider "${origin.provider}"`) };
  if (isRequestCeiling(words))
    return {
      kind: "invalid_request",
      ...base(
        "this account may not send so many tokens at once: shorten the request or raise its limit",
      ),
    };
  if (status === 429 || RATE_LIMIT_CODES.has(code)) {
    const retryAfterMs = readRetryAfter(headers, origin.now ?? Date.now) ?? google.retryAfterMs;
    return {
      kind: "rate_limited",
      ...base("wait and try again"),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
  }
  if (
    isOverflow({ text: words, ...(status !== undefined && { status }) }) ||
    isOverflow({ text: code })
  ) {
    const observed = observedTokens(words);
    const named = namedWindow(words);
    return {
      kind: "overflow",
      ...base("make the context smaller or choose a model with a larger window"),
      ...(observed !== undefined && { observedTokens: observed }),
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
    return { kind: "not_found", ...base("check the model's name and the base URL") };
  return {
    kind: "invalid_request",
    ...base("the request must be changed before it is sent again"),
  };
}

const RATE_LIMIT_CODES = new Set([
  "rate_limit_exceeded",
  "rate_limit_error",
  "RESOURCE_EXHAUSTED",
  "RATE_LIMIT_EXCEEDED",
]);
const UNAVAILABLE_CODES = new Set([
  "INTERNAL",
  "server_error",
  "internal_server_error",
  "api_error",
  "timeout_error",
]);

/** Network failures by the code of the error or of one of its causes. */
const NETWORK_CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "closed the connection",
  EPIPE: "closed the connection",
  UND_ERR_SOCKET: "closed the connection",
  ENOTFOUND: "has a host name that cannot be resolved",
  EAI_AGAIN: "has a host name that cannot be resolved now",
  EHOSTUNREACH: "cannot be reached",
  ENETUNREACH: "cannot be reached",
  UND_ERR_INVALID_ARG: "is no usable address",
  ERR_INVALID_URL: "is no usable address",
};
const TIMEOUT_CODES = new Set([
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

function networkError(cause: unknown, started: boolean, origin: FailureOrigin): ModelError {
  const code = errorCode(cause);
  const baseUrl = address(origin);
  if (code !== undefined && TIMEOUT_CODES.has(code))
    return {
      kind: "timeout",
      message: `${baseUrl} did not answer in time (${code}); check that the server is up, then try again.`,
    };
  if (started) {
    const message = `${baseUrl} broke off in the middle of its answer${code === undefined ? "" : ` (${code})`}; try again.`;
    return { kind: "network", message };
  }
  const known = code === undefined ? undefined : NETWORK_CODES[code];
  const why = known === undefined ? `gave no answer (${clip(words(cause))})` : `${known} (${code})`;
  return {
    kind: "network",
    message: `${baseUrl} ${why}; start the model server there or correct the base URL.`,
  };
}

function errorCode(cause: unknown): string | undefined {
  for (
    let current = cause, depth = 0;
    typeof current === "object" && current !== null && depth < 8;
    depth++
  ) {
    const {
      code,
      errors,
      cause: next,
    } = current as { code?: unknown; errors?: unknown; cause?: unknown };
    if (typeof code === "string") return code;
    // An attempt on several addresses fails with one error each.
    current = next ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}

function words(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return inner instanceof Error ? inner.message : String(inner);
}

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

const who = (origin: FailureOrigin) => `Model provider "${origin.provider}" (${address(origin)})`;

/** The base URL without a user name and password in it. */
const address = ({ endpoint }: FailureOrigin) => endpoint.baseUrl.replace(/\/\/[^/@]*@/, "//");

function redact(text: string, secrets: readonly string[]): string {
  const known = secrets.reduce(
    (rest, secret) => (secret.length < 4 ? rest : rest.replaceAll(secret, "[key]")),
    text,
  );
  return known.replace(/\b(?:(?:sk|pk|gsk|xai)-|AIza|ya29\.)[\w-]{8,}/g, "[key]");
}

function clip(text: string): string {
  const line = text
    .slice(0, 4 * DETAIL_LIMIT)
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[.;]$/, "");
  return line.length > DETAIL_LIMIT ? `${line.slice(0, DETAIL_LIMIT)}…` : line;
}
