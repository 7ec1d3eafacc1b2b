// How agent messages read on the Chat Completions wire.
import type {
  AgentMessage,
  AssistantMessage,
  ImageBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultMessage,
  UserMessage,
} from "@clew/plugin-sdk/core";
import type { ModelProfile, ModelRef } from "@clew/plugin-sdk/host";
import { toModelMessage } from "@clew/plugin-sdk/transcript";
import { writeGrowing } from "../shared/growing.ts";
import { NO_IMAGES } from "../shared/no-images.ts";
import { STAND_IN_SIGNATURE } from "../shared/stand-in-signature.ts";
import { wellFormedJson } from "../shared/well-formed.ts";
import { type ChatMarks, markedMessage } from "./cache.ts";
import type { ChatFlavor } from "./flavors.ts";
import { reasoningFields } from "./reasoning.ts";
import type { ChatMessage, ChatPart, ChatToolCall } from "./wire.ts";

/** Whom messages are written for. */
export interface ChatReader {
  model: ModelRef;
  profile: ModelProfile;
  /** The server's dialect, and what of this call is marked for its cache. */
  flavor: ChatFlavor & { marks: ChatMarks | undefined };
}

/** What is carried from one message to the next. */
interface Progress {
  /** Messages seen so far. */
  count: number;
  /** Images that wait for the end of the results. */
  held: ChatPart[];
  /** The newest message, while it may be marked as that; undefined: it need not be. */
  open: ChatMessage | undefined;
}

/**
 * The messages of a call as JSON, joined by commas, without the system prompt. Pairing and order
 * are the transcript policy's; this only translates.
 */
export function writeChatMessages(messages: readonly AgentMessage[], reader: ChatReader): string {
  if (reader.flavor.mergeUserMessages) {
    const wire: ChatMessage[] = [];
    const held = toChatMessages(messages, [], reader, (message) => wire.push(message));
    return mergeUsers([...wire, ...released(held)])
      .map(wellFormedJson)
      .join();
  }
  const { model, profile, flavor } = reader;
  const { marks } = flavor;
  return writeGrowing<Progress>({
    messages,
    // Everything about a reader that its messages depend on.
    shape: [
      ...[profile, model.provider, model.acceptsImages],
      ...(marks === undefined ? [] : [marks.mark.ttl ?? "", marks.stableMessages]),
    ],
    before: { count: 0, held: [], open: undefined },
    write: (fresh, progress) => writeFresh(fresh, progress, reader),
    end: ({ held, open }) => {
      const rest = [...(open === undefined ? [] : [open]), ...released(held)];
      return rest
        .map((each, at) => (at === rest.length - 1 ? markedMessage(each, marks?.mark) : each))
        .map(wellFormedJson)
        .join();
    },
  });
}

/** What comes before the newest message never changes again: only that one is held open. */
function writeFresh(
  fresh: readonly AgentMessage[],
  { count, held, open }: Progress,
  reader: ChatReader,
): { text: string; state: Progress } {
  const { mark, stableMessages = 0 } = reader.flavor.marks ?? {};
  const pieces: string[] = [];
  let last = open;
  const push = (each: ChatMessage) => {
    if (last !== undefined) pieces.push(wellFormedJson(last));
    last = each;
  };
  const end = mark === undefined ? 0 : Math.min(Math.max(0, stableMessages - count), fresh.length);
  let waiting = toChatMessages(fresh.slice(0, end), held, reader, push);
  if (end > 0 && count + end === stableMessages && last !== undefined) {
    pieces.push(wellFormedJson(markedMessage(last, mark)));
    last = undefined;
  }
  waiting = toChatMessages(fresh.slice(end), waiting, reader, push);
  if (mark === undefined && last !== undefined) {
    pieces.push(wellFormedJson(last));
    last = undefined;
  }
  return { text: pieces.join(), state: { count: count + fresh.length, held: waiting, open: last } };
}

/**
 * Translates one message after the other. A tool message may hold text only, and nothing may stand
 * between results of one turn: images follow after the last of them. Answers with those that still
 * wait.
 */
function toChatMessages(
  messages: readonly AgentMessage[],
  before: readonly ChatPart[],
  { model, profile }: ChatReader,
  push: (message: ChatMessage) => void,
): ChatPart[] {
  let held = [...before];
  for (const original of messages) {
    const message = toModelMessage(original);
    if (message === undefined) continue;
    if (message.role === "toolResult") {
      const { text, images } = toolResult(message, model);
      push(text);
      held.push(...images);
      continue;
    }
    released(held).forEach(push);
    held = [];
    if (message.role === "user") push({ role: "user", content: userContent(message, model) });
    else assistantMessage(message, model, profile).forEach(push);
  }
  return held;
}

const released = (held: readonly ChatPart[]): ChatMessage[] =>
  held.length === 0
    ? []
    : [
        {
          role: "user",
          content: [{ type: "text", text: "Images from the tool results above:" }, ...held],
        },
      ];

function userContent({ content }: UserMessage, model: ModelRef): string | ChatPart[] {
  if (typeof content === "string") return content;
  const parts = content.flatMap((block): ChatPart[] => {
    if (block.type === "image") return [imagePart(block, model)];
    return block.type === "text" && block.text !== "" ? [{ type: "text", text: block.text }] : [];
  });
  // Plain text where it suffices: some servers accept no parts.
  return parts.some(({ type }) => type === "image_url")
    ? parts
    : parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** Nothing for an assistant that said and asked nothing: several servers refuse a blank one. */
function assistantMessage(
  message: AssistantMessage,
  model: ModelRef,
  profile: ModelProfile,
): ChatMessage[] {
  const texts = message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const text = texts.join("\n");
  const asked = message.content.filter((block) => block.type === "toolCall");
  const calls = asked.map((block, index): ChatToolCall => {
    const signature = signatureOf(block, index === 0, profile);
    return {
      id: block.id,
      type: "function",
      function: { name: block.name, arguments: wellFormedJson(block.arguments) },
      ...(signature !== undefined && {
        extra_content: { google: { thought_signature: signature } },
      }),
    };
  });
  if (calls.length === 0 && text.trim() === "") return [];
  return [
    {
      role: "assistant",
      content: text.trim() === "" ? null : text,
      ...reasoningFields(message, model, profile),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
}

/** Where a call without one is refused, the first of those made at once gets a stand-in. */
function signatureOf(
  { thoughtSignature }: ToolCallBlock,
  isFirst: boolean,
  { calls: { signed } }: ModelProfile,
): string | undefined {
  if (signed === "never") return undefined;
  return thoughtSignature || (signed === "required" && isFirst ? STAND_IN_SIGNATURE : undefined);
}

function toolResult(
  message: ToolResultMessage,
  model: ModelRef,
): { text: ChatMessage; images: ChatPart[] } {
  const texts = message.content
    .filter((block): block is TextBlock => block.type === "text")
    .map(({ text }) => text);
  const images = message.content.filter((block): block is ImageBlock => block.type === "image");
  const words = texts.join("\n");
  const blank =
    images.length > 0
      ? "(see the image below)"
      : message.isError
        ? "(the tool failed without a message)"
        : "(no output)";
  return {
    text: {
      role: "tool",
      tool_call_id: message.toolCallId,
      content: words.trim() === "" ? blank : words,
    },
    images: images.map((image) => imagePart(image, model)),
  };
}

function imagePart({ data, mimeType }: ImageBlock, model: ModelRef): ChatPart {
  if (model.acceptsImages === false) return { type: "text", text: NO_IMAGES };
  return { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } };
}

function mergeUsers(wire: readonly ChatMessage[]): ChatMessage[] {
  const merged: ChatMessage[] = [];
  for (const message of wire) {
    const last = merged.at(-1);
    if (last?.role === "user" && message.role === "user")
      merged[merged.length - 1] = {
        role: "user",
        content: joinContent(last.content, message.content),
      };
    else merged.push(message);
  }
  return merged;
}

function joinContent(first: string | ChatPart[], second: string | ChatPart[]): string | ChatPart[] {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  const parts = (content: string | ChatPart[]): ChatPart[] =>
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  return [...parts(first), ...parts(second)];
}
