// Rules of the Chat Completions wire about the body as a whole.
import {
  type At,
  first,
  hasLoneSurrogate,
  type JsonObject,
  text,
  words,
} from "../../server/json.ts";
import { type ChatRule, functionOf, messages, toolCalls } from "./rule.ts";

const TOP_LEVEL = words(
  `model messages tools tool_choice max_tokens max_completion_tokens temperature top_p n stream stream_options stop presence_penalty
  frequency_penalty logit_bias logprobs top_logprobs user seed response_format parallel_tool_calls reasoning_effort verbosity store metadata
  service_tier modalities audio prediction web_search_options prompt_cache_key prompt_cache_retention safety_identifier functions
  function_call`,
);
const MESSAGE_FIELDS = words(
  "role content name tool_calls tool_call_id refusal audio function_call",
);

export const SHAPE_RULES: readonly ChatRule[] = [
  {
    id: "model.required",
    level: "reject",
    find: (body) => (text(body.model) === "" ? "you must provide a model parameter" : undefined),
  },
  {
    id: "messages.required",
    level: "reject",
    find: (body) =>
      Array.isArray(body.messages) ? undefined : "Missing required parameter: 'messages'.",
  },
  {
    id: "messages.empty",
    level: "reject",
    find: ({ messages: value }) =>
      Array.isArray(value) && value.length === 0
        ? "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
        : undefined,
  },
  {
    id: "toplevel.unknown",
    level: "reject",
    flavors: ["openai"],
    find: (body) =>
      first(
        Object.keys(body),
        (key) => !TOP_LEVEL.has(key),
        (key) => `Unknown parameter: '${key}'.`,
      ),
  },
  {
    id: "message.unknown_field",
    level: "reject",
    flavors: ["openai", "groq"],
    find: unknownMessageField,
  },
  {
    id: "max_tokens.model",
    level: "reject",
    flavors: ["openai"],
    find: (body) =>
      "max_tokens" in body && /^(?:o\d|gpt-5)/.test(text(body.model))
        ? "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        : undefined,
  },
  {
    id: "stream_options",
    level: "reject",
    find: (body) =>
      "stream_options" in body && body.stream !== true
        ? "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        : undefined,
  },
  {
    id: "unicode.surrogate",
    level: "compat",
    find: (body) =>
      hasLoneSurrogate(body) || toolCalls(body).some(hidesSurrogate)
        ? "a string holds a lone surrogate"
        : undefined,
  },
];

function unknownMessageField(body: JsonObject): string | undefined {
  for (const { value, path } of messages(body)) {
    const key = Object.keys(value).find((name) => !MESSAGE_FIELDS.has(name));
    if (key !== undefined) return `Unknown parameter: '${path}.${key}'.`;
  }
  return undefined;
}

/**
 * Arguments are JSON inside JSON: an escape in them is a lone surrogate only once the receiver
 * decoded it.
 */
function hidesSurrogate(call: At): boolean {
  try {
    return hasLoneSurrogate(JSON.parse(text(functionOf(call).arguments)));
  } catch {
    return false;
  }
}
