// The Gemini wire, with its addresses at Vertex, as the emulated server speaks it.
import { bearer, type EmulatedWire, type Failure, header, sse } from "../server/wire.ts";
import { createMemory, type GeminiAccepted, segmentsOf } from "./memory.ts";
import { document, frames } from "./reply.ts";
import { ASK_RULES } from "./rules/asks.ts";
import { CONTENT_RULES } from "./rules/contents.ts";
import { FUNCTION_RULES } from "./rules/functions.ts";
import { createView, type GeminiView, modelOf } from "./view.ts";

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const errorBody = ({ status, message, code, rule, retryAfterMs }: Failure) => {
  const details = [
    ...(rule === undefined
      ? []
      : [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: rule }]),
    ...(retryAfterMs === undefined
      ? []
      : [
          {
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            retryDelay: `${retryAfterMs / 1000}s`,
          },
        ]),
  ];
  return {
    error: {
      code: status,
      message,
      status: code ?? STATUS_NAMES[status] ?? "INTERNAL",
      ...(details.length > 0 && { details }),
    },
  };
};

export const GEMINI_WIRE: EmulatedWire<GeminiView, GeminiAccepted> = {
  api: "google-generative-ai",
  basePath: "/v1beta",
  ends: /^\/models(?:\/[^/:]+:\w+)?$/,
  isCall: (path) => /\/models\/[^/:]+:(?:streamG|g)enerateContent$/.test(path),
  isModels: (path) => path.endsWith("/models"),
  models: (names) => ({
    models: names.map((name) => ({ name: `models/${name}`, displayName: name })),
  }),
  keyOf: (headers, url) =>
    header(headers, "x-goog-api-key") ??
    bearer(headers) ??
    url.searchParams.get("key") ??
    undefined,
  rules: [...CONTENT_RULES, ...FUNCTION_RULES, ...ASK_RULES],
  view: createView,
  modelOf: (_body, { path }) => modelOf(path),
  streams: (_body, { path }) => path.endsWith(":streamGenerateContent"),
  size: (view) => ({
    prompt: segmentsOf(view).reduce((sum, { tokens }) => sum + tokens, 0),
    reply: 0,
  }),
  cache: { writes: "automatic", keepMs: 5 * 60_000, minimumTokens: 2048 },
  prices: () => ({ fresh: 2, read: 0.2, written: 2, writtenLong: 2, output: 12 }),
  remember: (cache) => createMemory(cache),
  failures: {
    json: () => ({ status: 400, message: "Invalid JSON payload received." }),
    key: () => ({ status: 400, message: "API key not valid. Please pass a valid API key." }),
    route: (_method, path) => ({
      status: 404,
      message: `The requested URL ${path} was not found on this server.`,
    }),
    overflow: (window, tokens) => ({
      status: 400,
      message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`,
    }),
    rateLimit: (retryAfterMs) => ({
      status: 429,
      message:
        "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.",
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    }),
    overloaded: () => ({
      status: 503,
      message: "The model is overloaded. Please try again later.",
    }),
  },
  error: (failure) => ({ status: failure.status, body: errorBody(failure) }),
  contentType: "text/event-stream",
  frames,
  document,
  errorFrame: (failure) => sse(errorBody(failure)),
  garbage: 'data: {"candidates":[{"content":{"parts":[{"te\n\n',
};
