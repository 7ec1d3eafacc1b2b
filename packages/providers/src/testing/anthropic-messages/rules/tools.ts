// Rules of the Messages wire about the tools offered, and the choice among them.
import { first, record, repeated, text } from "../../server/json.ts";
import { rejects, type WireRule } from "../../server/wire.ts";
import type { MessagesView } from "../view.ts";

/** Tools of the client's own; the provider's have a type with a date. */
const own = ({ tools }: MessagesView) =>
  tools.filter(({ value }) => value.type == null || value.type === "custom");
const choice = ({ body }: MessagesView) => record(body.tool_choice);

export const TOOL_RULES: readonly WireRule<MessagesView>[] = [
  rejects("tools.name", (view) =>
    first(
      own(view),
      ({ value }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(text(value.name)),
      ({ path }) => `${path}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
    ),
  ),
  rejects("tools.unique", ({ tools }) =>
    repeated(tools.map(({ value }) => text(value.name))) === undefined
      ? undefined
      : "tools: Tool names must be unique.",
  ),
  rejects("tools.schema", (view) =>
    first(
      own(view),
      ({ value }) => record(value.input_schema).type !== "object",
      ({ path }) => `${path}.custom.input_schema.type: Field required`,
    ),
  ),
  rejects("tools.schema_root_union", (view) =>
    first(
      own(view),
      ({ value }) => ["oneOf", "allOf", "anyOf"].some((key) => key in record(value.input_schema)),
      ({ path }) =>
        `${path}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
    ),
  ),
  rejects("tool_choice.no_tools", ({ body, tools }) =>
    body.tool_choice !== undefined && tools.length === 0
      ? "tool_choice may only be specified while providing tools."
      : undefined,
  ),
  rejects("tool_choice.unknown", (view) => {
    const { type, name } = choice(view);
    return type === "tool" &&
      view.tools.length > 0 &&
      !view.tools.some(({ value }) => value.name === name)
      ? `Tool '${text(name)}' not found in provided tools`
      : undefined;
  }),
  rejects("tool_choice.model", (view) =>
    view.traits.bindsPrefix && isForced(view)
      ? 'tool_choice: type "tool" and "any" are not supported for this model.'
      : undefined,
  ),
  rejects("thinking.tool_choice", (view) =>
    !view.traits.bindsPrefix &&
    isForced(view) &&
    (view.thinking === "enabled" || view.thinking === "adaptive")
      ? "Thinking may not be enabled when tool_choice forces tool use."
      : undefined,
  ),
];

const isForced = (view: MessagesView) =>
  choice(view).type === "tool" || choice(view).type === "any";
