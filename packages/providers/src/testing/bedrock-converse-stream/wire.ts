// The Converse wire, as the emulated server speaks it.
import { bearer, type EmulatedWire, type Failure, header } from "../server/wire.ts";
import { encodeMessage, exception } from "./event-stream.ts";
import { type ConverseAccepted, createMemory, segmentsOf } from "./memory.ts";
import { document, frames } from "./reply.ts";
import { ASK_RULES } from "./rules/asks.ts";
import { BLOCK_RULES } from "./rules/blocks.ts";
import { SHAPE_RULES } from "./rules/shape.ts";
import { TOOL_RULES } from "./rules/tools.ts";
import { type ConverseView, createView, modelOf } from "./view.ts";

const EXCEPTIONS: Readonly<Record<number, string>> = {
  400: "ValidationException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  424: "ModelErrorException",
  429: "ThrottlingException",
  500: "InternalServerException",
  503: "ServiceUnavailableException",
};

const nameOf = ({ status, code }: Failure) =>
  code ?? EXCEPTIONS[status] ?? "InternalServerException";

export const CONVERSE_WIRE: EmulatedWire<ConverseView, ConverseAccepted> = {
  api: "bedrock-converse-stream",
  basePath: "",
  ends: /^\/(?:model\/.+\/converse(?:-stream)?|foundation-models)$/,
  isCall: (path) => modelOf(path) !== "",
  isModels: (path) => path.endsWith("/foundation-models"),
  models: (names) => ({
    modelSummaries: names.map((modelId) => ({ modelId, modelName: modelId })),
  }),
  keyOf: (headers) =>
    bearer(headers) ?? /Credential=([^/,]+)/.exec(header(headers, "authorization") ?? "")?.[1],
  rules: [...SHAPE_RULES, ...BLOCK_RULES, ...TOOL_RULES, ...ASK_RULES],
  view: createView,
  modelOf: (_body, { path }) => modelOf(path),
  streams: (_body, { path }) => path.endsWith("/converse-stream"),
  size: (view) => ({
    prompt: segmentsOf(view).reduce((sum, { tokens }) => sum + tokens, 0),
    reply: 0,
  }),
  cache: { writes: "marked", keepMs: 5 * 60_000, minimumTokens: 1024 },
  prices: () => ({ fresh: 5, read: 0.5, written: 6.25, writtenLong: 10, output: 25 }),
  remember: (cache) => createMemory(cache),
  failures: {
    json: () => ({ status: 400, message: "Malformed input request" }),
    key: () => ({
      status: 403,
      message: "The security token included in the request is invalid.",
      code: "UnrecognizedClientException",
    }),
    route: () => ({ status: 404, message: "Not Found", code: "UnknownOperationException" }),
    overflow: (window, tokens) => ({
      status: 400,
      message: `The model returned the following errors: prompt is too long: ${tokens} tokens > ${window} maximum`,
    }),
    rateLimit: (retryAfterMs) => ({
      status: 429,
      message: "Too many requests, please wait before trying again.",
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    }),
    overloaded: () => ({
      status: 503,
      message: "Bedrock is unable to process your request.",
    }),
  },
  error: (failure) => ({
    status: failure.status,
    headers: {
      "x-amzn-errortype": nameOf(failure),
      "x-amzn-requestid": "emulated",
      ...(failure.rule !== undefined && { "x-emulated-rule": failure.rule }),
      ...(failure.retryAfterMs !== undefined && {
        "retry-after": String(Math.ceil(failure.retryAfterMs / 1000)),
      }),
    },
    body: { message: failure.message },
  }),
  contentType: "application/vnd.amazon.eventstream",
  frames,
  document,
  errorFrame: (failure) => {
    const name = nameOf(failure);
    return exception(`${name[0]!.toLowerCase()}${name.slice(1)}`, failure.message);
  },
  garbage: spoiled(),
};

/** A message whose checksum is wrong. */
function spoiled(): Uint8Array {
  const message = encodeMessage({ ":message-type": "event" }, "{}");
  message.writeUInt8(message.readUInt8(message.length - 1) ^ 1, message.length - 1);
  return message;
}
