// The Mistral wire, as the emulated server speaks it.
import { bearer, type EmulatedWire, type Failure, sse } from "../server/wire.ts";
import { createMemory, segmentsOf } from "./memory.ts";
import { document, frames } from "./reply.ts";
import { CALL_RULES, ORDER_RULES } from "./rules/order.ts";
import { SHAPE_RULES } from "./rules/shape.ts";
import { createView, type MistralView } from "./view.ts";

/** What a schema finds has a shape of its own. */
function errorBody({ status, message, code, rule }: Failure): object {
  if (status === 401) return { detail: message };
  if (status === 422)
    return { detail: [{ type: rule ?? "value_error", loc: ["body"], msg: message }] };
  return {
    object: "error",
    message,
    type: code ?? (status === 429 ? "rate_limited" : "invalid_request_error"),
    param: rule ?? null,
    code: null,
    raw_status_code: status,
  };
}

export const MISTRAL_WIRE: EmulatedWire<MistralView> = {
  api: "mistral-conversations",
  basePath: "/v1",
  ends: /^\/(?:chat\/completions|models)$/,
  isCall: (path) => path.endsWith("/v1/chat/completions"),
  isModels: (path) => path.endsWith("/v1/models"),
  models: (names) => ({
    object: "list",
    data: names.map((id) => ({ id, object: "model", created: 0, owned_by: "mistralai" })),
  }),
  keyOf: bearer,
  rules: [...SHAPE_RULES, ...ORDER_RULES, ...CALL_RULES],
  view: createView,
  modelOf: ({ model }) => (typeof model === "string" ? model : ""),
  streams: (body) => body === null || body.stream === true,
  size: (view) => ({
    prompt: segmentsOf(view).reduce((sum, { tokens }) => sum + tokens, 0),
    reply: Number(view.body.max_tokens ?? 0),
  }),
  cache: { writes: "automatic", keepMs: 5 * 60_000, minimumTokens: 1024 },
  prices: () => ({ fresh: 2, read: 0.2, written: 2, writtenLong: 2, output: 6 }),
  remember: (cache) => createMemory(cache),
  failures: {
    json: () => ({ status: 422, message: "Invalid request body" }),
    key: () => ({ status: 401, message: "Unauthorized" }),
    route: () => ({ status: 404, message: "no Route matched with those values" }),
    overflow: (window, tokens) => ({
      status: 400,
      message: `Prompt contains ${tokens} tokens and 0 draft tokens, too large for model with ${window} maximum context length`,
    }),
    rateLimit: (retryAfterMs) => ({
      status: 429,
      message: "Rate limit exceeded",
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    }),
    overloaded: () => ({ status: 503, message: "Service unavailable." }),
  },
  error: (failure) => ({
    status: failure.status,
    ...(failure.retryAfterMs !== undefined && {
      headers: { "retry-after": String(Math.ceil(failure.retryAfterMs / 1000)) },
    }),
    body: errorBody(failure),
  }),
  contentType: "text/event-stream; charset=utf-8",
  frames,
  document,
  errorFrame: (failure) => sse(errorBody(failure)),
  garbage: 'data: {"choices":[{"delta":{"content":\n\n',
};
