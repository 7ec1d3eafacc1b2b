// Rules of the Chat Completions wire about single messages.
import { isImageUrl } from "../../server/image-url.ts";
import { first, type JsonObject, text } from "../../server/json.ts";
import { type ChatRule, messages, parts } from "./rule.ts";

const ROLES = new Set(["system", "developer", "user", "assistant", "tool", "function"]);
const PART_TYPES = new Set(["text", "refusal", "image_url", "input_audio", "file"]);

const isBlank = (content: unknown) =>
  content == null ||
  (typeof content === "string" && content.trim() === "") ||
  (Array.isArray(content) &&
    content.every(
      (part) =>
        (part as JsonObject).type === "text" && text((part as JsonObject).text).trim() === "",
    ));
const hasCalls = (message: JsonObject) =>
  Array.isArray(message.tool_calls) && message.tool_calls.length > 0;

export const MESSAGE_RULES: readonly ChatRule[] = [
  {
    id: "role.invalid",
    level: "reject",
    find: (body) =>
      first(
        messages(body),
        ({ value }) => !ROLES.has(text(value.role)),
        ({ value }) =>
          `Invalid value: '${text(value.role)}'. Supported values are: ${[...ROLES].map((role) => `'${role}'`).join(", ")}.`,
      ),
  },
  {
    id: "content.null",
    level: "reject",
    find: (body) =>
      first(
        messages(body),
        ({ value }) => value.content == null && !(value.role === "assistant" && hasCalls(value)),
        () => "Invalid value for 'content': expected a string, got null.",
      ),
  },
  {
    id: "content.type",
    level: "reject",
    find: (body) =>
      first(
        messages(body),
        ({ value: { content } }) =>
          content != null && typeof content !== "string" && !Array.isArray(content),
        ({ path, value }) =>
          `Invalid type for '${path}.content': expected one of a string or array of objects, but got ${typeof value.content} instead.`,
      ),
  },
  {
    id: "content.empty_array",
    level: "reject",
    find: (body) =>
      first(
        messages(body),
        ({ value: { content } }) => Array.isArray(content) && content.length === 0,
        ({ path }) =>
          `Invalid '${path}.content': empty array. Expected an array with minimum length 1.`,
      ),
  },
  {
    id: "content.blank_assistant",
    level: "compat",
    find: (body) =>
      first(
        messages(body),
        ({ value }) => value.role === "assistant" && !hasCalls(value) && isBlank(value.content),
        ({ path }) => `'${path}' is an assistant message with neither text nor tool_calls`,
      ),
  },
  {
    id: "part.type",
    level: "reject",
    find: (body) =>
      first(
        parts(body),
        ({ value }) => !PART_TYPES.has(text(value.type)),
        ({ value }) =>
          `Invalid value: '${text(value.type)}'. Supported values are: 'text', 'image_url', 'input_audio', and 'file'.`,
      ),
  },
  {
    id: "part.text",
    level: "reject",
    find: (body) =>
      first(
        parts(body),
        ({ value }) => value.type === "text" && typeof value.text !== "string",
        ({ path }) => `Invalid type for '${path}.text': expected a string`,
      ),
  },
  {
    id: "part.image_role",
    level: "reject",
    find: (body) =>
      first(
        parts(body),
        ({ value, role }) => value.type === "image_url" && role !== "user",
        ({ path, role }) =>
          `Invalid '${path}'. Image URLs are only allowed for messages with role 'user', but this message with role '${role}' contains an image URL.`,
      ),
  },
  {
    id: "part.image",
    level: "reject",
    find: (body) =>
      first(
        parts(body),
        ({ value }) =>
          value.type === "image_url" &&
          !isImageUrl(text((value.image_url as JsonObject | undefined)?.url)),
        ({ path }) => `Invalid base64 image_url in '${path}'. Only image types are supported.`,
      ),
  },
  {
    id: "name.pattern",
    level: "reject",
    find: (body) =>
      first(
        messages(body),
        ({ value }) => value.name !== undefined && !/^[^\s<|\\/>]+$/.test(text(value.name)),
        ({ path }) =>
          `Invalid '${path}.name': string does not match pattern. Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'.`,
      ),
  },
  { id: "template.alternate", level: "compat", flavors: ["template"], find: brokenAlternation },
  {
    id: "template.system_first",
    level: "compat",
    flavors: ["template"],
    find: (body) =>
      first(
        messages(body).slice(1),
        ({ value }) => value.role === "system",
        () => "System message must be at the beginning.",
      ),
  },
  {
    id: "reasoning.required",
    level: "reject",
    flavors: ["deepseek", "kimi"],
    find: (body) =>
      first(
        messages(body),
        ({ value }) =>
          value.role === "assistant" &&
          hasCalls(value) &&
          typeof value.reasoning_content !== "string",
        ({ path }) =>
          `thinking is enabled but reasoning_content is missing in assistant tool call message ${path}`,
      ),
  },
];

/**
 * After the optional system message user and assistant must take turns; calls and their results
 * stand outside.
 */
function brokenAlternation(body: JsonObject): string | undefined {
  const roles = messages(body)
    .filter(({ value }) => value.role !== "tool" && value.role !== "system" && !hasCalls(value))
    .map(({ value }) => value.role);
  const broken = roles.some((role, index) => role !== (index % 2 === 0 ? "user" : "assistant"));
  return broken
    ? "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results."
    : undefined;
}
