// Rules of the Converse wire about the body as a whole, and the order of its messages.
import { isRecord } from "@clew/plugin-sdk/host";
import { first, hasLoneSurrogate, list, record, text, words } from "../../server/json.ts";
import { compat, rejects, type WireRule } from "../../server/wire.ts";
import type { ConverseView } from "../view.ts";

const TOP_LEVEL = words(
  `messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields
  promptVariables additionalModelResponseFieldPaths requestMetadata performanceConfig serviceTier
  outputConfig`,
);
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MOST_MARKS = 4;
const blank = (value: unknown) => typeof value !== "string" || value.trim() === "";

const marks = ({ blocks, system, tools }: ConverseView) =>
  [...tools, ...system, ...blocks].filter(({ value }) => "cachePoint" in value);

export const SHAPE_RULES: readonly WireRule<ConverseView>[] = [
  rejects("toplevel.unknown", ({ body }) =>
    first(
      Object.keys(body),
      (key) => !TOP_LEVEL.has(key),
      (key) => `Malformed input request: extraneous key [${key}] is not permitted`,
    ),
  ),
  rejects("messages.empty", ({ body }) =>
    list(body.messages).length === 0
      ? "A conversation must have at least one message. Try again with a conversation that has at least one message."
      : undefined,
  ),
  rejects("role.invalid", ({ messages }) =>
    first(
      messages,
      ({ role }) => role !== "user" && role !== "assistant",
      ({ role, index }) =>
        `Value '${role}' at 'messages.${index}.member.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]`,
    ),
  ),
  rejects("first.user", ({ messages: [message] }) =>
    message?.role === "assistant"
      ? "A conversation must start with a user message. Try again with a conversation that starts with a user message."
      : undefined,
  ),
  rejects("roles.alternate", ({ messages }) =>
    first(
      messages.slice(1),
      ({ role, index }) => messages[index - 1]?.role === role,
      () =>
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
    ),
  ),
  rejects("last.user", ({ messages, isClaude, traits }) => {
    const last = messages.at(-1);
    const isPrefill =
      last?.role === "assistant" && !last.blocks.some(({ value }) => "toolUse" in value);
    return isPrefill && !(isClaude && traits.takesPrefill)
      ? "This model does not support assistant message prefill. The conversation must end with a user message."
      : undefined;
  }),
  rejects("system.blank", ({ system }) =>
    first(
      system,
      ({ value }) => "text" in value && blank(value.text),
      ({ path }) =>
        `The text field in the SystemContentBlock object at ${path} is blank. Add text to the text field, and try again.`,
    ),
  ),
  rejects("toolConfig.empty", ({ body }) =>
    isRecord(body.toolConfig) && list(body.toolConfig.tools).length === 0
      ? "Value '[]' at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1"
      : undefined,
  ),
  rejects("toolConfig.spec", ({ tools }) =>
    first(
      tools.filter(({ value }) => "toolSpec" in value),
      ({ value }) => {
        const { name, inputSchema, description } = record(value.toolSpec);
        return !NAME.test(text(name)) || !isRecord(record(inputSchema).json) || description === "";
      },
      ({ path }) =>
        `Value at '${path}.member.toolSpec' failed to satisfy constraint: name must satisfy regular expression pattern: [a-zA-Z0-9_-]{1,64}, inputSchema.json must be an object, description must not be empty`,
    ),
  ),
  rejects("toolConfig.required", ({ body, blocks }) =>
    body.toolConfig === undefined &&
    blocks.some(({ value }) => "toolUse" in value || "toolResult" in value)
      ? "The toolConfig field must be defined when using toolUse and toolResult content blocks."
      : undefined,
  ),
  rejects("cachePoint.max", (view) =>
    marks(view).length > MOST_MARKS ? `Too many cache points: at most ${MOST_MARKS}` : undefined,
  ),
  rejects("cachePoint.alone", ({ messages }) =>
    first(
      messages,
      ({ blocks }) => blocks.length > 0 && blocks.every(({ value }) => "cachePoint" in value),
      ({ path }) => `${path}.content: a cachePoint needs content before it`,
    ),
  ),
  compat("cachePoint.after_reasoning", ({ blocks }) =>
    first(
      blocks,
      ({ value, turn, index }) =>
        "cachePoint" in value &&
        blocks.some(
          (other) =>
            other.turn === turn && other.index === index - 1 && "reasoningContent" in other.value,
        ),
      ({ path }) => `${path}: a cachePoint cannot follow reasoning content`,
    ),
  ),
  compat("cachePoint.ttl_order", (view) => {
    const ttls = marks(view).map(({ value }) => text(record(value.cachePoint).ttl) || "5m");
    const short = ttls.indexOf("5m");
    return short >= 0 && ttls.slice(short).includes("1h")
      ? "a cachePoint with ttl '1h' must not come after one with ttl '5m'"
      : undefined;
  }),
  rejects("unicode.surrogate", ({ body }) =>
    hasLoneSurrogate(body) ? "Malformed input request: a string holds a lone surrogate" : undefined,
  ),
];
