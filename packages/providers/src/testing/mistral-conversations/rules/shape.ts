// Rules of the Mistral wire that a schema can tell, all answered with 422.
import { isRecord } from "@clew/plugin-sdk/host";
import { first, hasLoneSurrogate, text, words } from "../../server/json.ts";
import { compat, rejects, type WireRule } from "../../server/wire.ts";
import { functionOf, type MistralView } from "../view.ts";

const TOP_LEVEL = words(
  `model messages temperature top_p max_tokens stream stop random_seed metadata response_format tools
  tool_choice presence_penalty frequency_penalty n prediction parallel_tool_calls reasoning_effort
  prompt_mode guardrails prompt_cache_key service_tier safe_prompt`,
);
const FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  system: words("role content"),
  user: words("role content"),
  assistant: words("role content tool_calls prefix"),
  tool: words("role content tool_call_id name"),
};
const CHUNKS = words(
  "text image_url document_url file reference thinking input_audio tool_reference",
);
const schema = { status: 422 };

export const SHAPE_RULES: readonly WireRule<MistralView>[] = [
  rejects(
    "model.required",
    ({ model }) => (model === "" ? "body.model: Field required" : undefined),
    schema,
  ),
  rejects("messages.empty", ({ body: { messages } }) =>
    Array.isArray(messages) && messages.length > 0
      ? undefined
      : "Conversation must have at least one message",
  ),
  rejects(
    "toplevel.extra",
    ({ body }) =>
      first(
        Object.keys(body),
        (key) => !TOP_LEVEL.has(key),
        (key) => `body.${key}: Extra inputs are not permitted`,
      ),
    schema,
  ),
  rejects(
    "message.extra",
    ({ messages }) =>
      first(
        messages.flatMap((message) => Object.keys(message.value).map((key) => ({ key, message }))),
        ({ key, message }) => FIELDS[message.role]?.has(key) === false,
        ({ key, message }) => `${message.path}.${key}: Extra inputs are not permitted`,
      ),
    schema,
  ),
  rejects(
    "role.invalid",
    ({ messages }) =>
      first(
        messages,
        ({ role }) => !(role in FIELDS),
        ({ path }) => `${path}.role: Input should be 'system', 'user', 'assistant' or 'tool'`,
      ),
    schema,
  ),
  rejects(
    "content.type",
    ({ messages }) =>
      first(
        messages,
        ({ value: { content }, role }) =>
          typeof content !== "string" &&
          !Array.isArray(content) &&
          !(content == null && role === "assistant"),
        ({ path }) => `${path}.content: Input should be a valid string or list of chunks`,
      ),
    schema,
  ),
  rejects(
    "chunk.type",
    ({ chunks }) =>
      first(
        chunks,
        ({ value }) => !CHUNKS.has(text(value.type)),
        ({ path, value }) =>
          `${path}: Input tag '${text(value.type)}' found using 'type' does not match any of the expected tags`,
      ),
    schema,
  ),
  rejects(
    "chunk.thinking_role",
    ({ chunks }) =>
      first(
        chunks,
        ({ value, role }) => value.type === "thinking" && role !== "assistant" && role !== "system",
        ({ path, role }) => `${path}: thinking is not expected in a message of role ${role}`,
      ),
    schema,
  ),
  rejects(
    "function.arguments",
    ({ calls }) =>
      first(
        calls,
        (call) =>
          typeof functionOf(call).arguments !== "string" && !isRecord(functionOf(call).arguments),
        ({ path }) => `${path}.function.arguments: Input should be a valid string or dictionary`,
      ),
    schema,
  ),
  compat("unicode.surrogate", ({ body }) =>
    hasLoneSurrogate(body) ? "a string holds a lone surrogate" : undefined,
  ),
];
