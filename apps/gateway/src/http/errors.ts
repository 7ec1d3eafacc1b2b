// Which HTTP status an error is, and the one sentence a client gets.
import { ContextEngineError, type ErrorCode, isAbort } from "@clew/plugin-sdk/core";
import type { Context, ErrorHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import type { DoorWire } from "../door/wires/door-wire.ts";
import { DOOR_WIRES, wireAt } from "../door/wires/find-wire.ts";
import { BacklogFull } from "../waiting/refusals.ts";
import { MessageTakenBack } from "../waiting/taken-back.ts";

/** Codes of answers that no error of Clew stands behind. */
export type HttpCode =
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "APPROVAL_OVER"
  | "BUSY"
  | "BODY_TOO_LARGE"
  | "RATE_LIMITED"
  | "ABORTED"
  | "INTERNAL";

export interface ErrorBody {
  error: { code: ErrorCode | HttpCode; message: string };
}

/** Written down in docs/errors.md. */
export const HTTP_STATUS = {
  CONFIG_INVALID: 503,
  ENGINE_NOT_FOUND: 503,
  ENGINE_FACTORY_FAILED: 502,
  ENGINE_CONTRACT_INVALID: 502,
  ENGINE_OPERATION_FAILED: 502,
  ENGINE_TIMEOUT: 504,
  HOST_CAPABILITY_MISSING: 501,
  HARNESS_UNAVAILABLE: 503,
  HARNESS_FAILED: 502,
  TRANSCRIPT_UNREADABLE: 500,
  TRANSCRIPT_MOVED: 409,
  STORAGE_FAILED: 507,
  SESSION_NOT_FOUND: 404,
  SESSION_NAME_INVALID: 400,
  SESSION_LOCKED: 409,
  SESSION_CLOSED: 503,
  SESSION_BUSY: 409,
  BACKLOG_FULL: 429,
  IDEMPOTENCY_KEY_REUSED: 422,
  FILE_NOT_FOUND: 404,
  PORT_UNAVAILABLE: 503,
  GATEWAY_RUNNING: 409,
  GATEWAY_STOPPING: 503,
  GATEWAY_UNREACHABLE: 503,
  REQUEST_INVALID: 400,
  COST_CAP_REACHED: 402,
  PLUGIN_NOT_FOUND: 404,
  PLUGIN_INVALID: 422,
  PLUGIN_INSTALL_FAILED: 409,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  APPROVAL_OVER: 409,
  BUSY: 409,
  BODY_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  ABORTED: 503,
  INTERNAL: 500,
} as const satisfies Record<ErrorCode | HttpCode, number>;

export interface ErrorAnswer {
  status: (typeof HTTP_STATUS)[keyof typeof HTTP_STATUS];
  body: ErrorBody;
}

/** What the HTTP library refuses has a status and no code. */
const LIBRARY_CODES: Readonly<Record<number, HttpCode>> = {
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  413: "BODY_TOO_LARGE",
};

export function toErrorResponse(error: unknown): ErrorAnswer {
  if (ContextEngineError.is(error)) return answerOf(error.code, error.message);
  if (error instanceof MessageTakenBack) return answerOf("ABORTED", error.message);
  if (isAbort(error)) return answerOf("ABORTED", "The run was cancelled.");
  if (error instanceof HTTPException && error.status < 500)
    return answerOf(
      LIBRARY_CODES[error.status] ?? "REQUEST_INVALID",
      error.message || "The request cannot be understood.",
    );
  return answerOf(
    "INTERNAL",
    "Something unexpected happened; the log in CLEW_HOME/logs says what.",
  );
}

/** An answer in the house's form, or at the door's addresses in that of their wire. */
export const refuse = (context: Context, code: ErrorCode | HttpCode, message: string): Response =>
  answerAt(context, answerOf(code, message));

function answerAt(context: Context, { status, body }: ErrorAnswer): Response {
  const wire = doorWireOf(context.req.path);
  return wire === undefined
    ? context.json(body, status)
    : context.json(wire.error(status, body.error.message).body, status);
}

/** Those of the door that hold no conversation speak as their neighbours do. */
function doorWireOf(path: string): DoorWire | undefined {
  if (/^\/v1beta(\/|$)/.test(path)) return DOOR_WIRES["google-generative-ai"];
  if (!/^\/v1(\/|$)/.test(path)) return undefined;
  if (/^\/v1\/messages(\/|$)/.test(path)) return DOOR_WIRES["anthropic-messages"];
  return wireAt(path) ?? DOOR_WIRES["openai-completions"];
}

/** Answers what a route threw; what is the gateway's own trouble is logged as well. */
export const errorHandler =
  (log: { error(message: string): void }): ErrorHandler =>
  (error, context) => {
    const answer = toErrorResponse(error);
    if (error instanceof BacklogFull)
      context.header("retry-after", String(error.retryAfterSeconds));
    // Whoever asks while it stops is told so, and the gateway has no trouble.
    const isNoTrouble = isAbort(error) || ContextEngineError.is(error, "GATEWAY_STOPPING");
    if (answer.status >= 500 && !isNoTrouble)
      log.error(`${context.req.method} ${context.req.path} failed: ${describe(error)}`);
    return answerAt(context, answer);
  };

const answerOf = (code: ErrorCode | HttpCode, message: string): ErrorAnswer => ({
  status: HTTP_STATUS[code],
  body: { error: { code, message } },
});

/** Never empty: some errors have no message. */
const describe = (error: unknown) =>
  error instanceof Error ? error.message || error.name : String(error);
