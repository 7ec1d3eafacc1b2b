// The Messages wire, as the emulated server speaks it.
import { bearer, type EmulatedWire, type Failure, header, sse } from "../server/wire.ts";
import { createMemory, type MessagesAccepted } from "./memory.ts";
import { segmentsOf } from "./prefix.ts";
import { document, frames } from "./reply.ts";
import { MESSAGES_RULES } from "./rules/all.ts";
import { createView, type MessagesView, modelOf } from "./view.ts";

const KIND_BY_STATUS: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

const errorBody = ({ status, message, code, rule }: Failure) => ({
  type: "error",
  error: {
    type: code ?? KIND_BY_STATUS[status] ?? "api_error",
    message,
    // A client ignores it; a person who reads the log of a test does not.
    ...(rule !== undefined && { rule }),
  },
  request_id: null,
});

export const MESSAGES_WIRE: EmulatedWire<MessagesView, MessagesAccepted> = {
  api: "anthropic-messages",
  basePath: "/v1",
  ends: /^\/(?:messages|models)$/,
  isCall: (path) => path.endsWith("/v1/messages") || /:(?:streamR|r)awPredict$/.test(path),
  isModels: (path) => path.endsWith("/v1/models"),
  models: (names) => ({
    data: names.map((id) => ({
      type: "model",
      id,
      display_name: id,
      created_at: "2026-01-01T00:00:00Z",
    })),
    has_more: false,
    first_id: names[0] ?? null,
    last_id: names.at(-1) ?? null,
  }),
  keyOf: (headers) => header(headers, "x-api-key") ?? bearer(headers),
  rules: MESSAGES_RULES,
  view: createView,
  modelOf: (body, { path }) => modelOf(body, path),
  streams: (body, { path }) =>
    body === null || body.stream === true || path.endsWith(":streamRawPredict"),
  size: (view) => ({
    prompt: segmentsOf(view).reduce((sum, { tokens }) => sum + tokens, 0),
    reply: Number(view.body.max_tokens),
  }),
  cache: { writes: "marked", keepMs: 5 * 60_000, minimumTokens: 1024 },
  prices: () => ({ fresh: 5, read: 0.5, written: 6.25, writtenLong: 10, output: 25 }),
  remember: (cache) => createMemory(cache),
  failures: {
    json: () => ({ status: 400, message: "The request body is not valid JSON" }),
    key: () => ({ status: 401, message: "invalid x-api-key" }),
    route: (_method, path) => ({ status: 404, message: `Not Found: ${path}` }),
    overflow: (window, tokens) => ({
      status: 400,
      message: `prompt is too long: ${tokens} tokens > ${window} maximum`,
    }),
    overflowWithReply: (window, tokens, reply) => ({
      status: 400,
      message: `input length and \`max_tokens\` exceed context limit: ${tokens} + ${reply} > ${window}, decrease input length or \`max_tokens\` and try again`,
    }),
    rateLimit: (retryAfterMs) => ({
      status: 429,
      message: "This request would exceed your organization's rate limit",
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    }),
    overloaded: () => ({ status: 529, message: "Overloaded" }),
  },
  error: (failure) => ({
    status: failure.status,
    headers: {
      "request-id": "req_emulated",
      ...(failure.retryAfterMs !== undefined && {
        "retry-after": String(Math.ceil(failure.retryAfterMs / 1000)),
      }),
    },
    body: errorBody(failure),
  }),
  contentType: "text/event-stream; charset=utf-8",
  frames,
  document,
  errorFrame: (failure) => sse(errorBody(failure), "error"),
  garbage: 'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"te\n\n',
};
