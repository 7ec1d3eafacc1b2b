// Says why no answer came, and what to do about it.
import type { ModelError } from "@clew/plugin-sdk/host";
import { addressOf, type FailureOrigin, quoted } from "./failure-origin.ts";

/** "away" it does not answer · "name" nobody has that name · "address" it is none. */
type Advice = "away" | "name" | "address";

interface NetworkFailure {
  /** Completes "<address> …". */
  why: string;
  next: Advice;
  /** Default: "network", which may pass. */
  kind?: "not_found";
  /** No server was reached. Default: one may have read the request. */
  unsent?: true;
}

/** By the code of the error or of one of its causes. */
const NETWORK_CODES: Readonly<Record<string, NetworkFailure>> = {
  ECONNREFUSED: { why: "refused the connection", next: "away", unsent: true },
  ECONNRESET: { why: "closed the connection", next: "away" },
  EPIPE: { why: "closed the connection", next: "away" },
  UND_ERR_SOCKET: { why: "closed the connection", next: "away" },
  ENOTFOUND: { why: "has a host name that cannot be resolved", next: "name", unsent: true },
  EAI_AGAIN: { why: "has a host name that cannot be resolved now", next: "name", unsent: true },
  EHOSTUNREACH: { why: "cannot be reached", next: "away", unsent: true },
  ENETUNREACH: { why: "cannot be reached", next: "away", unsent: true },
  UND_ERR_INVALID_ARG: { why: "is no usable address", next: "address", kind: "not_found" },
  ERR_INVALID_URL: { why: "is no usable address", next: "address", kind: "not_found" },
};
const TIMEOUT_CODES = new Set([
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** Codes of zlib, for gzip and Brotli. */
const PACKED_BADLY = /^(?:Z_(?:DATA|BUF|STREAM)_ERROR|ERR_+(?:BROTLI_)?(?:DECODER_)?ERROR_FORMAT)/;

/** No answer came, or one that broke off (`started`). */
export function networkError(cause: unknown, started: boolean, origin: FailureOrigin): ModelError {
  const code = errorCode(cause);
  const baseUrl = addressOf(origin);
  if (code !== undefined && TIMEOUT_CODES.has(code))
    return {
      kind: "timeout",
      message: `${baseUrl} did not answer in time (${code}); check that the server is up, then try again.`,
      ...(code === "UND_ERR_CONNECT_TIMEOUT" && { unsent: true }),
    };
  if (code !== undefined && PACKED_BADLY.test(code)) {
    const message = `${baseUrl} sent an answer that cannot be unpacked (${code}); see what that server, or a proxy before it, sends under its content-encoding.`;
    return { kind: "invalid_response", message };
  }
  if (started) {
    const message = `${baseUrl} broke off in the middle of its answer${code === undefined ? "" : ` (${code})`}; try again.`;
    return { kind: "network", message };
  }
  const {
    why,
    next,
    kind = "network",
    unsent,
  } = NETWORK_CODES[code ?? ""] ?? {
    why: `gave no answer (${quoted(words(cause), origin)})`,
    next: "away",
  };
  const named = code !== undefined && Object.hasOwn(NETWORK_CODES, code) ? ` (${code})` : "";
  const message = `${baseUrl} ${why}${named}; ${advice(next, origin)}.`;
  return { kind, message, ...(unsent && { unsent }) };
}

/** A server of the person's own may not have been started; others are not theirs to start. */
function advice(next: Advice, { endpoint }: FailureOrigin): string {
  if (next === "address") return "correct the base URL";
  if (next === "name")
    return "check the host name in the base URL, and whether this machine is online";
  return isLoopback(endpoint.baseUrl)
    ? "start the model server there or correct the base URL"
    : "check the network and the base URL, then try again";
}

function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0)$/.test(
    new URL(address).hostname,
  );
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
