// Requests of Chat Completions, as the door reads and shortens them.
import type { DoorWire, JsonObject, MessageLook, Speaker } from "./door-wire.ts";
import { identityOf } from "./identity.ts";
import {
  countOf,
  formOf,
  leadingCount,
  lengthOf,
  messagesOf,
  objectsOf,
  recordOf,
  textOf,
  wordsOf,
} from "./json.ts";
import { openaiError, openaiOverflow } from "./openai-errors.ts";

export const COMPLETIONS: DoorWire = {
  api: "openai-completions",
  list: "messages",
  replyLimits: [["max_completion_tokens"], ["max_tokens"]],
  mostMarkers: 0,
  thinkingLimits: [],
  read(body) {
    const messages = messagesOf(body.messages);
    if (messages === undefined) return undefined;
    return {
      model: textOf(body.model),
      streaming: body.stream === true,
      messages,
      leading: leadingCount(messages, ({ role }) => isSystem(role)),
      system: null,
      tools: objectsOf(body.tools).map(
        (tool) => textOf(recordOf(tool.function).name) || textOf(tool.name) || textOf(tool.type),
      ),
      ...countOf(body.max_completion_tokens ?? body.max_tokens),
    };
  },
  look(message): MessageLook {
    const calls = objectsOf(message.tool_calls);
    const answers = message.role === "tool" ? [textOf(message.tool_call_id)] : [];
    return {
      speaker: speakerOf(message.role),
      identity: identityOf(message),
      calls: calls.map(({ id }) => textOf(id)).filter(Boolean),
      get forms() {
        return calls.map((call) => {
          const { name, arguments: given } = recordOf(call.function);
          return formOf(name, given);
        });
      },
      answers: answers.filter(Boolean),
      text: isResult(message) ? "" : chatText(message.content),
      thinks: THINKING.some((name) => message[name] !== undefined),
    };
  },
  withIds(message, idFor) {
    if (message.role === "tool")
      return { ...message, tool_call_id: idFor(textOf(message.tool_call_id)) };
    const tool_calls = objectsOf(message.tool_calls);
    if (tool_calls.length === 0) return message;
    return {
      ...message,
      tool_calls: tool_calls.map((call) => ({ ...call, id: idFor(textOf(call.id)) })),
    };
  },
  elide(message, chars, say) {
    const length = lengthOf(message.content);
    if (!isResult(message) || length <= chars) return message;
    return { ...message, content: say(length, wordsOf(message.content)) };
  },
  // Whoever wants it back refuses a history without it, and nobody checks what stands before it.
  withoutThinking: (message) => message,
  withText: (message, text) => ({ ...message, content: withChatText(message.content, text) }),
  withMarker: () => undefined,
  overflow: (overflow) => openaiOverflow(overflow, "messages"),
  error: openaiError,
};

const THINKING = ["reasoning", "reasoning_content", "reasoning_details"] as const;

const isSystem = (role: unknown) => role === "system" || role === "developer";

const isResult = ({ role }: JsonObject) => role === "tool" || role === "function";

function speakerOf(role: unknown): Speaker {
  if (isSystem(role)) return "system";
  if (role === "assistant") return "model";
  return role === "tool" || role === "function" ? "tools" : "person";
}

/** With one more text behind it; `type`: as the wire calls its parts. */
export const withChatText = (content: unknown, text: string, type = "text") =>
  typeof content === "string" ? `${content}\n\n${text}` : [...objectsOf(content), { type, text }];

/** The texts of a content that is a text or a list of parts. */
export const chatText = (content: unknown): string =>
  typeof content === "string"
    ? content
    : objectsOf(content)
        .map(({ text }) => textOf(text))
        .filter(Boolean)
        .join("\n");
