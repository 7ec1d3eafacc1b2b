// Which failures of an engine pass by themselves, so that asking once more is worth it.
import { readQuietly } from "./describe-error.ts";

/** Of Node, undici, SQLite and this SDK. */
const TRANSIENT_CODES: ReadonlySet<unknown> = new Set([
  "SQLITE_BUSY",
  "SQLITE_BUSY_SNAPSHOT",
  "SQLITE_LOCKED",
  "EBUSY",
  "EAGAIN",
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_SOCKET",
  "SESSION_LOCKED",
]);
/** `errcode` of node:sqlite, whose code is the same for all errors: busy and locked. */
const TRANSIENT_SQLITE: ReadonlySet<unknown> = new Set([5, 6]);
/** HTTP: too many requests, and servers that are not ready. */
const TRANSIENT_STATUS: ReadonlySet<unknown> = new Set([429, 502, 503, 504]);
/** Drivers that wrap SQLite's errors keep nothing but its words. */
const BUSY_DATABASE = /\bSQLITE_(BUSY|LOCKED)\b|\bdatabase (table )?is (locked|busy)\b/i;
const MAX_CAUSES = 8;

/**
 * True for a store that was busy and for a network that did not answer, at any depth of causes. A
 * method that ran over its bound is not: it had its time.
 */
export function isTransient(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES; depth++) {
    if (typeof current === "string") return BUSY_DATABASE.test(current);
    if (typeof current !== "object" || current === null) return false;
    const seen = current;
    if (readQuietly(() => looksTransient(seen))) return true;
    current = readQuietly(() => (seen as { cause?: unknown }).cause);
  }
  return false;
}

function looksTransient(error: object): boolean {
  const { code, errcode, status, name, message } = error as Record<string, unknown>;
  if (code === "ENGINE_TIMEOUT") return false;
  return (
    TRANSIENT_CODES.has(code) ||
    (code === "ERR_SQLITE_ERROR" && TRANSIENT_SQLITE.has(errcode)) ||
    TRANSIENT_STATUS.has(status) ||
    name === "TimeoutError" ||
    (typeof message === "string" && BUSY_DATABASE.test(message.slice(0, 1_000)))
  );
}
