// What an editor is answered when what it asks cannot be done.
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { describeThrown } from "../plugins/stray-errors.ts";

/** An error of JSON-RPC, before the protocol's own library is loaded. */
export class AcpRefusal extends Error {
  readonly code: number;
  readonly data: Record<string, unknown> | undefined;

  constructor(code: number, message: string, data?: Record<string, unknown>) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const NOT_FOUND = -32002;
const CANCELLED = -32800;

/** Codes of docs/errors.md that are not an error of the gateway. */
const CODES: Readonly<Record<string, number>> = {
  REQUEST_INVALID: INVALID_PARAMS,
  SESSION_NAME_INVALID: NOT_FOUND,
  SESSION_NOT_FOUND: NOT_FOUND,
  SESSION_BUSY: INVALID_REQUEST,
  BACKLOG_FULL: INVALID_REQUEST,
};

export const invalid = (message: string): AcpRefusal =>
  new AcpRefusal(INVALID_PARAMS, message, { code: "REQUEST_INVALID" });

export const noSuchSession = (sessionId: string, next: string): AcpRefusal =>
  new AcpRefusal(NOT_FOUND, `There is no session "${sessionId}" ${next}.`, {
    code: "SESSION_NOT_FOUND",
  });

/** What the library refuses by itself has a code of ours, too. */
export function withCodes({ readable, writable }: Stream): Stream {
  const output = writable.getWriter();
  return {
    readable,
    writable: new WritableStream<AnyMessage>({
      write: (message) => output.write(withCode(message)),
      close: () => output.close(),
      abort: (why) => output.abort(why),
    }),
  };
}

function withCode(message: AnyMessage): AnyMessage {
  if (!("error" in message)) return message;
  const { error } = message as { error: { code: number; message: string; data?: unknown } };
  const data = isRecord(error.data) ? error.data : {};
  // One that was cancelled is refused by nobody.
  if (data.code !== undefined || error.code === CANCELLED) return message;
  const code = error.code === INTERNAL ? "INTERNAL" : "REQUEST_INVALID";
  return { ...message, error: { ...error, data: { ...data, code } } };
}

/** Pure. What was thrown, with the code of docs/errors.md in its data. */
export function refusalOf(error: unknown): AcpRefusal {
  if (error instanceof AcpRefusal) return error;
  if (ContextEngineError.is(error))
    return new AcpRefusal(CODES[error.code] ?? INTERNAL, error.message, { code: error.code });
  return new AcpRefusal(INTERNAL, `The gateway failed: ${describeThrown(error)}`, {
    code: "INTERNAL",
  });
}
