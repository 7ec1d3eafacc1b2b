// Rules of the Responses wire about the body as a whole, and the tools it offers.
import { isRecord } from "@clew/plugin-sdk/host";
import {
  first,
  hasLoneSurrogate,
  type JsonObject,
  list,
  parseObject,
  text,
  words,
} from "../../server/json.ts";
import { compat, rejects, type WireRule } from "../../server/wire.ts";
import { isReasoning } from "../models.ts";
import type { ResponsesView } from "../view.ts";

const TOP_LEVEL = words(
  `model input instructions stream stream_options store include tools tool_choice parallel_tool_calls
  max_output_tokens max_tool_calls temperature top_p top_logprobs reasoning text truncation metadata
  user service_tier previous_response_id conversation prompt prompt_cache_key prompt_cache_options
  prompt_cache_retention safety_identifier background context_management access_programs image
  moderation`,
);
const NAME = /^[a-zA-Z0-9_-]+$/;
const LEAST_OUTPUT = 16;
const LONGEST_TEXT = 10_485_760;

export const SHAPE_RULES: readonly WireRule<ResponsesView>[] = [
  rejects("model.required", ({ model }) =>
    model === "" ? "Missing required parameter: 'model'." : undefined,
  ),
  rejects("input.required", ({ body }) =>
    ["input", "previous_response_id", "prompt", "conversation"].every((key) => body[key] == null)
      ? `One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`
      : undefined,
  ),
  rejects("toplevel.unknown", ({ body }) =>
    first(
      Object.keys(body),
      (key) => !TOP_LEVEL.has(key),
      (key) => `Unknown parameter: '${key}'.`,
    ),
  ),
  rejects("max_output_tokens.min", ({ body: { max_output_tokens: most } }) =>
    most != null && Number(most) < LEAST_OUTPUT
      ? `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= ${LEAST_OUTPUT}, but got ${String(most)} instead.`
      : undefined,
  ),
  rejects("temperature.model", ({ body, model }) =>
    body.temperature != null && isReasoning(model)
      ? "Unsupported parameter: 'temperature' is not supported with this model."
      : undefined,
  ),
  rejects("tools.shape", ({ tools }) =>
    first(
      tools,
      ({ value }) => value.type === "function" && typeof value.name !== "string",
      ({ path }) => `Missing required parameter: '${path}.name'.`,
    ),
  ),
  rejects("tools.name", ({ tools }) =>
    first(
      tools,
      ({ value }) =>
        value.type === "function" &&
        typeof value.name === "string" &&
        (!NAME.test(value.name) || value.name.length > 64),
      ({ path }) =>
        `Invalid '${path}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    ),
  ),
  rejects("tool_choice.no_tools", ({ body, tools }) =>
    tools.length === 0 && (body.tool_choice === "required" || isRecord(body.tool_choice))
      ? `Tool choice '${isRecord(body.tool_choice) ? text(body.tool_choice.type) : String(body.tool_choice)}' must be specified with 'tools' parameter.`
      : undefined,
  ),
  rejects("text.length", ({ body, items, parts, calls }) => {
    const texts = [
      ["instructions", body.instructions],
      ["input", body.input],
      ...items.map(({ path, value }) => [`${path}.content`, value.content]),
      ...parts.map(({ path, value }) => [`${path}.text`, value.text]),
      ...calls.map(({ path, value }) => [`${path}.arguments`, value.arguments]),
      ...items.map(({ path, value }) => [`${path}.output`, value.output]),
    ] as const;
    return first(
      texts,
      ([, value]) => text(value).length > LONGEST_TEXT,
      ([path]) =>
        `Invalid '${String(path)}': string too long. Expected a string with maximum length ${LONGEST_TEXT}.`,
    );
  }),
  compat("unicode.surrogate", ({ body, calls }) =>
    hasLoneSurrogate(body) || calls.some(({ value }) => hidesSurrogate(value))
      ? "a string holds a lone surrogate"
      : undefined,
  ),
];

const hidesSurrogate = (call: JsonObject) =>
  hasLoneSurrogate(parseObject(text(call.arguments)) ?? {});

/** What the ChatGPT backend wants beyond the api. */
export const CHATGPT_RULES: readonly WireRule<ResponsesView>[] = [
  rejects("chatgpt.instructions", ({ body }) =>
    text(body.instructions) === "" ? "Instructions are required" : undefined,
  ),
  rejects("chatgpt.store", ({ body }) =>
    body.store === false ? undefined : "Store must be set to false",
  ),
  rejects("chatgpt.stream", ({ body }) =>
    body.stream === true ? undefined : "Stream must be set to true",
  ),
  rejects("chatgpt.parameter", ({ body }) =>
    first(
      ["max_output_tokens", "temperature", "top_p", "previous_response_id"],
      (key) => body[key] != null,
      (key) => `Unsupported parameter: ${key}`,
    ),
  ),
  rejects("chatgpt.input", ({ body }) =>
    list(body.input).length === 0 ? "Input must be a list" : undefined,
  ),
];
