// Which HTTP status an error is, and the one sentence a client gets.
import { ContextEngineError, type ErrorCode, isAbort } from "@clew/plugin-sdk/core";

export interface ErrorBody {
  error: { code: string; message: string };
}

const STATUS: Partial<Record<ErrorCode, 400 | 409 | 500 | 503>> = {
  CONFIG_INVALID: 400,
  PLUGIN_INVALID: 400,
  SESSION_LOCKED: 409,
  TRANSCRIPT_MOVED: 409,
  STORE_BUSY: 503,
};

export function toErrorResponse(error: unknown): {
  status: 400 | 409 | 500 | 503;
  body: ErrorBody;
} {
  if (ContextEngineError.is(error)) {
    return {
      status: STATUS[error.code] ?? 500,
      body: { error: { code: error.code, message: error.message } },
    };
  }
  if (isAbort(error))
    return { status: 503, body: { error: { code: "ABORTED", message: "The run was cancelled." } } };
  return {
    status: 500,
    body: {
      error: {
        code: "INTERNAL",
        message: "Something unexpected happened; the log in CLEW_HOME/logs says what.",
      },
    },
  };
}
