// Requests of Anthropic's Messages, as the door reads and shortens them.
import type { DoorWire, JsonObject, MessageLook, Speaker } from "./door-wire.ts";
import { identityOf, isThinking } from "./identity.ts";
import {
  changeEach,
  countOf,
  formOf,
  lengthOf,
  listOf,
  messagesOf,
  objectsOf,
  textOf,
  wordsOf,
} from "./json.ts";
import { chatText } from "./openai-completions.ts";
import { fixedSentence, partsOf, takenBy } from "./overflow-words.ts";

export const MESSAGES: DoorWire = {
  api: "anthropic-messages",
  list: "messages",
  replyLimits: [["max_tokens"]],
  mostMarkers: 4,
  thinkingLimits: [["thinking", "budget_tokens"]],
  read(body) {
    const messages = messagesOf(body.messages);
    if (messages === undefined) return undefined;
    return {
      model: textOf(body.model),
      streaming: body.stream === true,
      messages,
      leading: 0,
      system: body.system ?? null,
      tools: objectsOf(body.tools).map(({ name, type }) => textOf(name) || textOf(type)),
      ...countOf(body.max_tokens),
    };
  },
  look(message): MessageLook {
    const blocks = objectsOf(message.content);
    const idsOf = (type: string, name: string) =>
      blocks
        .filter((block) => block.type === type)
        .map((block) => textOf(block[name]))
        .filter(Boolean);
    return {
      speaker: speakerOf(message, blocks),
      identity: identityOf(message),
      calls: idsOf("tool_use", "id"),
      get forms() {
        return blocks
          .filter(({ type }) => type === "tool_use")
          .map(({ name, input }) => formOf(name, input));
      },
      answers: idsOf("tool_result", "tool_use_id"),
      text: chatText(message.content),
      thinks: blocks.some(isThinking),
    };
  },
  withIds(message, idFor) {
    if (!Array.isArray(message.content)) return message;
    const content = changeEach(message.content, (block) => {
      if (block.type === "tool_use") return { ...block, id: idFor(textOf(block.id)) };
      if (block.type !== "tool_result") return block;
      return { ...block, tool_use_id: idFor(textOf(block.tool_use_id)) };
    });
    return { ...message, content };
  },
  elide(message, chars, say) {
    const content = changeEach(message.content, (block) => {
      const length = lengthOf(block.content);
      if (block.type !== "tool_result" || length <= chars || loadsTools(block)) return block;
      const text = say(length, wordsOf(block.content));
      return {
        ...block,
        content: typeof block.content === "string" ? text : [{ type: "text", text }],
      };
    });
    return content === message.content || !Array.isArray(message.content)
      ? message
      : { ...message, content };
  },
  withoutThinking(message) {
    const blocks = listOf(message.content);
    if (!blocks.some(isThinking)) return message;
    const rest = blocks.filter((block) => !isThinking(block));
    const content = rest.length > 0 ? rest : [{ type: "text", text: "(thinking)" }];
    return { ...message, content };
  },
  withText: (message, text) => ({
    ...message,
    content: [...contentBlocks(message), { type: "text", text }],
  }),
  withMarker(message, marker) {
    const blocks = contentBlocks(message);
    const last = blocks.at(-1);
    if (last === undefined || isThinking(last) || last.text === "") return undefined;
    if (last.cache_control !== undefined) return undefined;
    return { ...message, content: [...blocks.slice(0, -1), { ...last, cache_control: marker }] };
  },
  overflow: (overflow) =>
    anthropicError(
      400,
      `prompt is too long: ${takenBy(overflow)} tokens > ${overflow.window} maximum${partsOf(overflow, ["prompt", "reply"])}.${fixedSentence(overflow)}`,
    ),
  error: anthropicError,
};

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

function anthropicError(status: number, message: string) {
  const type = ERROR_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { status, reason: message, body: { type: "error", error: { type, message } } };
}

function speakerOf({ role }: JsonObject, blocks: readonly JsonObject[]): Speaker {
  if (role === "assistant") return "model";
  if (role === "system") return "system";
  return blocks.some(({ type }) => type === "tool_result") ? "tools" : "person";
}

/** A result that names tools makes them callable, and is short. */
const loadsTools = ({ content }: JsonObject) =>
  objectsOf(content).some(({ type }) => type === "tool_reference");

const contentBlocks = ({ content }: JsonObject): readonly JsonObject[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content);
