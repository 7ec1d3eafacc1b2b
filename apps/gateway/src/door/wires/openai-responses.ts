// Requests of Responses, as the door reads and shortens them.
import type { DoorWire, JsonObject, MessageLook, Speaker } from "./door-wire.ts";
import { identityOf } from "./identity.ts";
import {
  countOf,
  formOf,
  leadingCount,
  lengthOf,
  messagesOf,
  objectsOf,
  textOf,
  wordsOf,
} from "./json.ts";
import { chatText, withChatText } from "./openai-completions.ts";
import { openaiError, openaiOverflow } from "./openai-errors.ts";

export const RESPONSES: DoorWire = {
  api: "openai-responses",
  list: "input",
  replyLimits: [["max_output_tokens"]],
  mostMarkers: 0,
  thinkingLimits: [],
  read(body) {
    const { input } = body;
    const messages =
      typeof input === "string" ? [{ role: "user", content: input }] : messagesOf(input);
    if (messages === undefined) return undefined;
    const listed = messages.filter(declaresTools).flatMap(({ tools }) => objectsOf(tools));
    return {
      model: textOf(body.model),
      streaming: body.stream === true,
      messages,
      leading: leadingCount(messages, ({ role }) => isSystem(role)),
      system: body.instructions ?? null,
      tools: namesOf([...objectsOf(body.tools), ...listed]),
      ...(listed.length > 0 && { listed }),
      ...countOf(body.max_output_tokens),
    };
  },
  look(item): MessageLook {
    const type = textOf(item.type);
    const call = textOf(item.call_id);
    return {
      speaker: speakerOf(item),
      identity: identityOf(item),
      calls: type.endsWith("_call") && call !== "" ? [call] : [],
      get forms() {
        return type.endsWith("_call") ? [formOf(item.name, givenIn(item))] : [];
      },
      answers: type.endsWith("_output") && call !== "" ? [call] : [],
      text: item.role === undefined ? "" : chatText(item.content),
      thinks: type === "reasoning",
    };
  },
  withIds: (item, idFor) =>
    item.call_id === undefined ? item : { ...item, call_id: idFor(textOf(item.call_id)) },
  elide(item, chars, say) {
    const length = lengthOf(item.output);
    if (!ELIDABLE.has(textOf(item.type)) || length <= chars) return item;
    return { ...item, output: say(length, wordsOf(item.output)) };
  },
  // A call whose reasoning is missing is refused.
  withoutThinking: (item) => item,
  withText: (item, text) => ({
    ...item,
    content: withChatText(item.content, text, "input_text"),
  }),
  withMarker: () => undefined,
  overflow: (overflow) => openaiOverflow(overflow, "input"),
  error: openaiError,
};

/** Codex does in code mode. */
export const declaresTools = ({ type }: JsonObject): boolean => type === "additional_tools";

/** Those of a namespace stand in a list of their own. */
export const toolsIn = (tool: JsonObject): readonly JsonObject[] =>
  tool.type === "namespace" ? objectsOf(tool.tools) : [tool];

const namesOf = (tools: readonly JsonObject[]): string[] =>
  tools.flatMap(toolsIn).map(({ name, type }) => textOf(name) || textOf(type));

/** What a call gives its tool; one that takes a text has it as `input`, as in a reply. */
export const givenIn = ({ type, arguments: given, input, action }: JsonObject): unknown =>
  type === "custom_tool_call" ? { input: textOf(input) } : (given ?? input ?? action);

/** Results that may be a text, whatever they were. */
const ELIDABLE = new Set([
  "function_call_output",
  "custom_tool_call_output",
  "local_shell_call_output",
]);

const isSystem = (role: unknown) => role === "system" || role === "developer";

function speakerOf({ role, type }: JsonObject): Speaker {
  if (isSystem(role)) return "system";
  if (role === "user") return "person";
  return role === undefined && textOf(type).endsWith("_output") ? "tools" : "model";
}
