// Rules of the Chat Completions wire about tools, their calls and results.
import { isRecord } from "@clew/plugin-sdk/host";
import {
  type At,
  first,
  type JsonObject,
  list,
  objects,
  parseObject,
  repeated,
  text,
} from "../../server/json.ts";
import { type ChatRule, functionOf, messages, toolCalls } from "./rule.ts";

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const tools = (body: JsonObject) => objects(body.tools, "tools");
const idOf = ({ value }: At) => text(value.id);

export const TOOL_RULES: readonly ChatRule[] = [
  {
    id: "tool_calls.empty",
    level: "reject",
    find: (body) =>
      first(
        messages(body),
        ({ value }) => Array.isArray(value.tool_calls) && value.tool_calls.length === 0,
        ({ path }) =>
          `Invalid '${path}.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
      ),
  },
  {
    id: "tool_calls.type",
    level: "reject",
    find: (body) =>
      first(
        toolCalls(body),
        ({ value }) => value.type !== "function",
        ({ path }) => `Missing required parameter: '${path}.type'.`,
      ),
  },
  {
    id: "tool_calls.id",
    level: "reject",
    find: (body) =>
      first(
        toolCalls(body),
        (call) => idOf(call) === "",
        ({ path }) => `Missing required parameter: '${path}.id'.`,
      ),
  },
  { id: "tool_calls.id_length", level: "reject", find: (body) => longId(body, 64) },
  { id: "tool_calls.id_length40", level: "compat", find: (body) => longId(body, 40) },
  {
    id: "tool_calls.id_duplicate",
    level: "compat",
    find: (body) =>
      first(
        messages(body),
        ({ value }) => repeated(objects(value.tool_calls, "").map(idOf)) !== undefined,
        ({ path }) => `'${path}' uses one tool call id twice`,
      ),
  },
  {
    id: "tool_calls.name",
    level: "reject",
    find: (body) =>
      first(
        toolCalls(body),
        (call) => !NAME.test(text(functionOf(call).name)),
        ({ path }) =>
          `Invalid '${path}.function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      ),
  },
  {
    id: "tool_calls.arguments",
    level: "reject",
    find: (body) =>
      first(
        toolCalls(body),
        (call) => typeof functionOf(call).arguments !== "string",
        ({ path }) =>
          `Invalid type for '${path}.function.arguments': expected a string, but got an object instead.`,
      ),
  },
  {
    id: "tool_calls.arguments_json",
    level: "compat",
    find: (body) =>
      first(
        toolCalls(body),
        (call) => parseObject(text(functionOf(call).arguments)) === undefined,
        ({ path }) => `'${path}.function.arguments' is not a JSON object`,
      ),
  },
  {
    id: "tool.id_required",
    level: "reject",
    find: (body) =>
      first(
        messages(body),
        ({ value }) => value.role === "tool" && text(value.tool_call_id) === "",
        () =>
          "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
      ),
  },
  { id: "tool.orphan", level: "reject", find: (body) => pairing(body).orphan },
  { id: "tool.unmatched", level: "reject", find: (body) => pairing(body).unmatched },
  { id: "tool.missing", level: "reject", find: (body) => pairing(body).missing },
  { id: "tool.duplicate", level: "compat", find: (body) => pairing(body).duplicate },
  {
    id: "tools.name",
    level: "reject",
    find: (body) =>
      first(
        tools(body),
        (tool) => isRecord(tool.value.function) && !NAME.test(text(functionOf(tool).name)),
        ({ path }) =>
          `Invalid '${path}.function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`,
      ),
  },
  {
    id: "tools.shape",
    level: "reject",
    find: (body) =>
      first(
        tools(body),
        ({ value }) => value.type !== "function" || !isRecord(value.function),
        ({ path }) => `Missing required parameter: '${path}.function'.`,
      ),
  },
  {
    id: "tools.empty",
    level: "reject",
    find: ({ tools: value }) =>
      Array.isArray(value) && value.length === 0
        ? "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead."
        : undefined,
  },
  {
    id: "tools.max",
    level: "reject",
    find: (body) =>
      list(body.tools).length > 128
        ? "Invalid 'tools': array too long. Expected an array with maximum length 128"
        : undefined,
  },
  {
    id: "tool_choice.no_tools",
    level: "reject",
    find: (body) =>
      "tool_choice" in body && !("tools" in body)
        ? "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        : undefined,
  },
  {
    id: "tools.required_by_history",
    level: "compat",
    flavors: ["proxy"],
    find: (body) =>
      toolCalls(body).length > 0 && !("tools" in body)
        ? "a history with tool calls needs the 'tools' parameter"
        : undefined,
  },
];

function longId(body: JsonObject, limit: number): string | undefined {
  return first(
    toolCalls(body),
    (call) => idOf(call).length > limit,
    ({ path }) =>
      `Invalid '${path}.id': string too long. Expected a string with maximum length ${limit}.`,
  );
}

interface Pairing {
  orphan?: string;
  unmatched?: string;
  missing?: string;
  duplicate?: string;
}

/** Follows each assistant's calls through the tool messages right after it. */
function pairing(body: JsonObject): Pairing {
  const problems: Pairing = {};
  let open: { ids: Set<string>; answered: Set<string> } | undefined;
  const close = () => {
    const unanswered =
      open === undefined ? [] : [...open.ids].filter((id) => !open?.answered.has(id));
    if (unanswered.length > 0)
      problems.missing ??= `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${unanswered.join(", ")}`;
    open = undefined;
  };
  for (const { value } of messages(body)) {
    if (value.role !== "tool") {
      close();
      const ids = objects(value.tool_calls, "").map(idOf);
      if (ids.length > 0) open = { ids: new Set(ids), answered: new Set() };
      continue;
    }
    const id = text(value.tool_call_id);
    if (open === undefined)
      problems.orphan ??=
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
    else if (!open.ids.has(id))
      problems.unmatched ??= `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`;
    else if (open.answered.has(id)) problems.duplicate ??= `two tool messages answer '${id}'`;
    open?.answered.add(id);
  }
  close();
  return problems;
}
