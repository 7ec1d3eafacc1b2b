// The one error class of Clew, and its codes.

/** Every code, with its cause and cure in docs/errors.md. */
export const ERROR_CODES = [
  "CONFIG_INVALID",
  "ENGINE_NOT_FOUND",
  "ENGINE_FACTORY_FAILED",
  "ENGINE_CONTRACT_INVALID",
  "ENGINE_OPERATION_FAILED",
  "ENGINE_TIMEOUT",
  "HOST_CAPABILITY_MISSING",
  "HARNESS_UNAVAILABLE",
  "HARNESS_FAILED",
  "TRANSCRIPT_UNREADABLE",
  "TRANSCRIPT_MOVED",
  "STORAGE_FAILED",
  "SESSION_NOT_FOUND",
  "SESSION_NAME_INVALID",
  "SESSION_LOCKED",
  "SESSION_CLOSED",
  "SESSION_BUSY",
  "BACKLOG_FULL",
  "IDEMPOTENCY_KEY_REUSED",
  "FILE_NOT_FOUND",
  "PORT_UNAVAILABLE",
  "GATEWAY_RUNNING",
  "GATEWAY_STOPPING",
  "GATEWAY_UNREACHABLE",
  "REQUEST_INVALID",
  "COST_CAP_REACHED",
  "PLUGIN_NOT_FOUND",
  "PLUGIN_INVALID",
  "PLUGIN_INSTALL_FAILED",
] as const;

/** What an error is told apart by; messages are for people. */
export type ErrorCode = (typeof ERROR_CODES)[number];

const BRAND = Symbol.for("clew.context-engine-error");

/**
 * Something broke: a bug, or the environment. Expected outcomes are results, not errors. The
 * message is one sentence: who, what, why, what next; it never holds transcript content or keys.
 */
export class ContextEngineError extends Error {
  /** How logs name it. */
  override readonly name = "ContextEngineError";
  /** What went wrong, for programs. */
  readonly code: ErrorCode;
  // "declare": an absent field must be absent, not undefined.
  /** The engine that failed. Absent: none did. */
  declare readonly engineId?: string;
  /** The method or step that failed. Absent: the code says enough. */
  declare readonly operation?: string;
  /**
   * A registered symbol, so that two copies of this package in one process recognise each other's
   * errors.
   */
  readonly [BRAND] = true;

  /** `cause` is what was caught, for logs. */
  constructor(
    code: ErrorCode,
    message: string,
    options: { engineId?: string; operation?: string; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    if (options.engineId !== undefined) this.engineId = options.engineId;
    if (options.operation !== undefined) this.operation = options.operation;
  }

  /**
   * True for an error of this class from any copy of the package, and, if given, of this code.
   * Never throws, whatever was thrown.
   */
  static is(error: unknown, code?: ErrorCode): error is ContextEngineError {
    if (typeof error !== "object" || error === null) return false;
    try {
      return BRAND in error && (code === undefined || (error as ContextEngineError).code === code);
    } catch {
      // A revoked proxy, or a getter that throws.
      return false;
    }
  }
}

/**
 * True for the platform's AbortError and for `signal`'s own reason: an abort is nobody's failure.
 * Never throws, whatever was thrown.
 */
export function isAbort(error: unknown, signal?: AbortSignal): boolean {
  try {
    return holdsAbort(error, signal);
  } catch {
    // A revoked proxy, or a getter that throws.
    return false;
  }
}

function holdsAbort(error: unknown, signal: AbortSignal | undefined): boolean {
  for (
    let current = error, depth = 0;
    current !== undefined && current !== null && depth < 8;
    depth++
  ) {
    if (signal?.aborted && current === signal.reason) return true;
    if ((current as { name?: unknown }).name === "AbortError") return true;
    current = (current as { cause?: unknown }).cause;
  }
  return false;
}
