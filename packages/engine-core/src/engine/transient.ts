// Which failures of an engine pass, at once or when somebody has mended a disk.
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
/** Disks that are full, or may not be written. */
const DISK_CODES: ReadonlySet<unknown> = new Set([
  ...["ENOSPC", "EDQUOT", "EROFS", "EACCES"],
  ...["SQLITE_FULL", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR"],
]);
/** The same of node:sqlite: permission, read-only, input and output, full, cannot be opened. */
const DISK_SQLITE: ReadonlySet<number> = new Set([3, 8, 10, 13, 14]);
const PRIMARY_CODE = 0xff;
/** HTTP: too many requests, and servers that are not ready. */
const TRANSIENT_STATUS: ReadonlySet<unknown> = new Set([429, 502, 503, 504]);
/** Drivers that wrap SQLite's errors keep nothing but its words. */
const BUSY_DATABASE = /\bSQLITE_(BUSY|LOCKED)\b|\bdatabase (table )?is (locked|busy)\b/i;
const MAX_CAUSES = 8;

/**
 * True for a store that was busy and for a network that did not answer, at any depth of causes. A
 * method that ran over its bound is not: it had its time.
 */
export const isTransient = (error: unknown): boolean =>
  isAny(error, looksTransient, (words) => BUSY_DATABASE.test(words));

/**
 * True for a disk that is full or cannot be written, at any depth of causes: asking again at once
 * is of no use, and later it is.
 */
export const isOfDisk = (error: unknown): boolean => isAny(error, looksOfDisk, () => false);

function isAny(
  error: unknown,
  looks: (error: object) => boolean,
  reads: (words: string) => boolean,
): boolean {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES; depth++) {
    if (typeof current === "string") return reads(current);
    if (typeof current !== "object" || current === null) return false;
    const seen = current;
    if (readQuietly(() => looks(seen))) return true;
    current = readQuietly(() => (seen as { cause?: unknown }).cause);
  }
  return false;
}

function looksOfDisk(error: object): boolean {
  const { code, errcode } = error as Record<string, unknown>;
  if (code === "ERR_SQLITE_ERROR")
    return typeof errcode === "number" && DISK_SQLITE.has(errcode & PRIMARY_CODE);
  return DISK_CODES.has(code);
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
