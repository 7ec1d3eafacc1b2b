// The Chat Completions wire, as the emulated server speaks it.
import { error, errorObject, failures, keyOf, models } from "../openai/errors.ts";
import { type JsonObject, text } from "../server/json.ts";
import { type EmulatedWire, sse } from "../server/wire.ts";
import { type ChatAccepted, createMemory, segmentsOf } from "./memory.ts";
import { document, frames } from "./reply.ts";
import { CHAT_RULES } from "./rules/check.ts";

export const CHAT_WIRE: EmulatedWire<JsonObject, ChatAccepted> = {
  api: "openai-completions",
  basePath: "/v1",
  ends: /^\/(?:chat\/completions|models)$/,
  isCall: (path) => path.endsWith("/chat/completions"),
  isModels: (path) => path.endsWith("/v1/models"),
  models,
  keyOf,
  rules: CHAT_RULES,
  view: (body) => body,
  modelOf: (body) => text(body.model),
  streams: (body) => body === null || body.stream === true,
  size: (body) => ({
    prompt: segmentsOf(body).reduce((sum, { tokens }) => sum + tokens, 0),
    reply: Number(body.max_completion_tokens ?? body.max_tokens ?? 0),
  }),
  cache: { writes: "automatic", keepMs: 5 * 60_000, minimumTokens: 1024 },
  prices: () => ({ fresh: 1.25, read: 0.125, written: 1.25, writtenLong: 1.25, output: 10 }),
  remember: createMemory,
  failures,
  error,
  contentType: "text/event-stream",
  frames,
  document,
  errorFrame: (failure) => sse({ error: errorObject(failure) }),
  garbage: 'data: {"choices":[{"delta":{"content":\n\n',
};
