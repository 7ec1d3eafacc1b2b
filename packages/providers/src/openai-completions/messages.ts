// How agent messages read on the Chat Completions wire.
import type {
  AgentMessage,
  AssistantMessage,
  ImageBlock,
  TextBlock,
  ToolResultMessage,
  UserMessage,
} from "@clew/plugin-sdk/core";
import type { ModelProfile, ModelRef } from "@clew/plugin-sdk/host";
import { toModelMessage } from "@clew/plugin-sdk/transcript";
import { wellFormedJson } from "../shared/well-formed.ts";
import type { ChatFlavor } from "./flavors.ts";
import { type ReasoningFields, reasoningFields } from "./reasoning.ts";

export type ChatPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } };

export type ChatMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | ChatPart[] }
  | ({
      role: "assistant";
      content: string | null;
      tool_calls?: ChatToolCall[];
    } & ReasoningFields)
  | { role: "tool"; tool_call_id: string; content: string };

export interface ChatToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
  extra_content?: { google: { thought_signature: string } };
}

const NO_IMAGES = "[image left out: this model takes no images]";

/**
 * The wire messages of a call. Pairing and order are the transcript policy's; this only translates.
 */
export function toChatMessages(input: {
  systemPrompt: string;
  messages: readonly AgentMessage[];
  model: ModelRef;
  profile: ModelProfile;
  flavor: ChatFlavor;
}) {
  const { systemPrompt, messages, model, profile, flavor } = input;
  const wire: ChatMessage[] =
    systemPrompt.trim() === "" ? [] : [{ role: "system", content: systemPrompt }];
  // A tool message may hold text only, and nothing may stand between results of one turn: images
  // follow after the last of them.
  let heldImages: ChatPart[] = [];
  const release = () => {
    if (heldImages.length > 0)
      wire.push({
        role: "user",
        content: [{ type: "text", text: "Images from the tool results above:" }, ...heldImages],
      });
    heldImages = [];
  };
  for (const original of messages) {
    const message = toModelMessage(original);
    if (message === undefined) continue;
    if (message.role === "toolResult") {
      const { text, images } = toolResult(message, model);
      wire.push(text);
      heldImages.push(...images);
      continue;
    }
    release();
    if (message.role === "user") wire.push({ role: "user", content: userContent(message, model) });
    else wire.push(...assistantMessage(message, model, profile));
  }
  release();
  return flavor.mergeUserMessages ? mergeUsers(wire) : wire;
}

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
  const calls = message.content.flatMap((block): ChatToolCall[] =>
    block.type === "toolCall"
      ? [
          {
            id: block.id,
            type: "function",
            function: { name: block.name, arguments: wellFormedJson(block.arguments) },
            ...(profile.calls.signed !== "never" &&
              block.thoughtSignature !== undefined && {
                extra_content: { google: { thought_signature: block.thoughtSignature } },
              }),
          },
        ]
      : [],
  );
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
