// The Responses wires, as the emulated server speaks them.
import { error, failures, keyOf, models } from "../openai/errors.ts";
import { text } from "../server/json.ts";
import type { EmulatedWire } from "../server/wire.ts";
import { createMemory, type ResponsesAccepted, segmentsOf } from "./memory.ts";
import { marksCache } from "./models.ts";
import { document, errorFrame, frames } from "./reply.ts";
import { RESPONSES_RULES } from "./rules/all.ts";
import { CHATGPT_RULES } from "./rules/shape.ts";
import { createView, type ResponsesView } from "./view.ts";

type Wire = EmulatedWire<ResponsesView, ResponsesAccepted>;

export const RESPONSES_WIRE: Wire = {
  api: "openai-responses",
  basePath: "/v1",
  ends: /^\/(?:responses|models)$/,
  isCall: (path) => path.endsWith("/responses"),
  isModels: (path) => path.endsWith("/models"),
  models,
  keyOf,
  rules: RESPONSES_RULES,
  view: createView,
  modelOf: (body) => text(body.model),
  streams: (body) => body === null || body.stream === true,
  size: (view) => ({
    prompt: segmentsOf(view).reduce((sum, { tokens }) => sum + tokens, 0),
    reply: Number(view.body.max_output_tokens ?? 0),
  }),
  cache: { writes: "automatic", keepMs: 10 * 60_000, minimumTokens: 1024 },
  prices: (model) => {
    const written = marksCache(model) ? 1.25 : 1;
    return {
      fresh: 1.25,
      read: 0.125,
      written: 1.25 * written,
      writtenLong: 1.25 * written,
      output: 10,
    };
  },
  remember: (cache) => createMemory(cache),
  failures,
  error,
  contentType: "text/event-stream; charset=utf-8",
  frames,
  document,
  errorFrame,
  garbage: 'event: response.output_text.delta\ndata: {"type":"response.output_te\n\n',
};

/** The same wire as ChatGPT's backend speaks it: nothing is stored, everything is streamed. */
export const CHATGPT_WIRE: Wire = {
  ...RESPONSES_WIRE,
  api: "openai-chatgpt-responses",
  basePath: "/backend-api/codex",
  ends: /^\/(?:responses|models)$/,
  rules: [...CHATGPT_RULES, ...RESPONSES_RULES],
};
