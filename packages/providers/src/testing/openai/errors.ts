// How OpenAI refuses, on each of its wires.
import { bearer, type EmulatedWire, type ErrorAnswer, type Failure } from "../server/wire.ts";

/** The error object; which rule was broken stands in `param`, where a person looks for it. */
export const errorObject = ({ message, code = null, rule = null, status }: Loose) => ({
  message,
  type: typeOf(status),
  param: rule,
  code,
});

type Loose = Pick<Failure, "message" | "status"> & { code?: string | null; rule?: string | null };

export function error(failure: Failure): ErrorAnswer {
  const { status, retryAfterMs } = failure;
  const headers: Record<string, string> =
    retryAfterMs === undefined
      ? {}
      : {
          "retry-after": String(Math.ceil(retryAfterMs / 1000)),
          "retry-after-ms": String(retryAfterMs),
        };
  return { status, headers, body: { error: errorObject(failure) } };
}

export const failures: EmulatedWire<never>["failures"] = {
  json: () => ({ status: 400, message: "We could not parse the JSON body of your request." }),
  key: () => ({
    status: 401,
    message: "Incorrect API key provided.",
    code: "invalid_api_key",
  }),
  route: (method, path) => ({
    status: 404,
    message: `Unknown request URL: ${method} ${path}.`,
    code: "unknown_url",
  }),
  overflow: (window, tokens) => ({
    status: 400,
    message: `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
    code: "context_length_exceeded",
  }),
  rateLimit: (retryAfterMs) => ({
    status: 429,
    message: `Rate limit reached for requests.${retryAfterMs === undefined ? "" : ` Please try again in ${retryAfterMs / 1000}s.`}`,
    code: "rate_limit_exceeded",
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }),
  overloaded: () => ({
    status: 503,
    message: "The engine is currently overloaded, please try again later",
  }),
};

export const keyOf: EmulatedWire<never>["keyOf"] = (headers) =>
  bearer(headers) ?? (typeof headers["api-key"] === "string" ? headers["api-key"] : undefined);

export const models: EmulatedWire<never>["models"] = (names) => ({
  object: "list",
  data: names.map((id) => ({ id, object: "model", created: 0, owned_by: "emulated" })),
});

function typeOf(status: number): string {
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
