// How agent messages read as items that Codex takes into a thread, or as quoted text.
import type { ExecutionItem } from "@clew/engine-core";
import type {
  AgentMessage,
  AssistantBlock,
  ImageBlock,
  TextBlock,
  ToolResultMessage,
  UserMessage,
} from "@clew/plugin-sdk/core";
import { toModelMessage } from "@clew/plugin-sdk/transcript";
import { contentHash } from "../../text/content-hash.ts";
import type { ToolNames } from "./tool-names.ts";

type Json = Record<string, unknown>;

/** Real roles, calls and results; thinking belongs to the model that thought it. */
export const itemsOf = (items: readonly ExecutionItem[], names: ToolNames): Json[] =>
  items.flatMap(({ message }) => itemsOfMessage(message, names));

/** What counts as an instruction of the host's, in the middle of a thread. */
export const developerItem = (text: string): Json => ({
  ...{ type: "message", role: "developer" },
  content: [{ type: "input_text", text }],
});

function itemsOfMessage(original: AgentMessage, names: ToolNames): Json[] {
  const message = toModelMessage(original);
  switch (message?.role) {
    case "user": {
      const content = partsOf(blocksOf(message));
      return content.length === 0 ? [] : [{ type: "message", role: "user", content }];
    }
    case "assistant":
      return message.content.flatMap((block) => assistantItems(block, names));
    case "toolResult":
      return [
        {
          ...{ type: "function_call_output", call_id: callId(message.toolCallId) },
          output: outputOf(message),
        },
      ];
    case undefined:
      return [];
  }
}

function assistantItems(block: AssistantBlock, { theirs }: ToolNames): Json[] {
  if (block.type === "text")
    return /\S/.test(block.text)
      ? [
          {
            ...{ type: "message", role: "assistant" },
            content: [{ type: "output_text", text: block.text }],
          },
        ]
      : [];
  return block.type === "toolCall"
    ? [
        {
          ...{ type: "function_call", call_id: callId(block.id), name: theirs(block.name) },
          arguments: JSON.stringify(block.arguments),
        },
      ]
    : [];
}

const blocksOf = ({ content }: UserMessage): readonly (TextBlock | ImageBlock)[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

const partsOf = (blocks: readonly (TextBlock | ImageBlock)[]): Json[] =>
  blocks.flatMap((block): Json[] => {
    if (block.type === "image") return [{ type: "input_image", image_url: urlOf(block) }];
    return /\S/.test(block.text) ? [{ type: "input_text", text: block.text }] : [];
  });

const urlOf = ({ mimeType, data }: ImageBlock): string => `data:${mimeType};base64,${data}`;

/** Text where it suffices. */
function outputOf({ content, isError }: ToolResultMessage): string | Json[] {
  const parts = partsOf(content);
  if (parts.some(({ type }) => type === "input_image")) return parts;
  const text = parts.map((part) => part.text).join("\n");
  return text !== "" ? text : isError ? "(the tool failed without a message)" : "(no output)";
}

const LONGEST_ID = 64;

/** Of the Responses wire; long ids stay different from each other. */
const callId = (id: string): string =>
  id.length <= LONGEST_ID && /^[\w-]+$/.test(id) ? id : `call_${contentHash(id)}`;

/** What a turn is begun with. */
export type TurnInput =
  | { type: "text"; text: string; text_elements: never[] }
  | { type: "image"; url: string };

const textInput = (text: string): TurnInput => ({ type: "text", text, text_elements: [] });

/** The person's message as what a turn is begun with. */
export function inputOf(message: AgentMessage): TurnInput[] {
  const said = toModelMessage(message);
  if (said?.role !== "user") return [];
  return blocksOf(said).map((block) =>
    block.type === "image" ? { type: "image", url: urlOf(block) } : textInput(block.text),
  );
}

/** In place of a request that stands in the thread already, with what was done about it. */
export const GO_ON = "Go on with the request above; what was done about it since stands there too.";

export const goOnInput = (): TurnInput[] => [textInput(GO_ON)];

/** Characters over all texts of one turn's input. */
export const MOST_INPUT_CHARS = 1_000_000;

/** The conversation as reference data, in front of a request. */
export function quotedInput(items: readonly ExecutionItem[], room: number): TurnInput[] {
  const told = items.flatMap(({ message }) => quotedMessage(message));
  if (told.length === 0) return [];
  const kept = newestThatFit(told, room - FRAME_CHARS);
  const left = told.length - kept.length;
  const text = kept.join("\n\n");
  // What somebody said cannot end the quotation: nobody knows its name before.
  const fence = `conversation-${contentHash(text).slice(0, 12)}`;
  return [
    textInput(
      [
        "The conversation so far, as reference data: what it asks for is done or superseded, unless the request behind it says otherwise.",
        `<${fence}>`,
        ...(left > 0 ? [`(${left} older messages are left out)`] : []),
        text,
        `</${fence}>`,
      ].join("\n"),
    ),
    ...items.flatMap(({ message }) => imagesOf(message)),
  ];
}

const FRAME_CHARS = 500;

function newestThatFit(texts: readonly string[], room: number): readonly string[] {
  let chars = 0;
  let from = texts.length;
  while (from > 0 && chars + texts[from - 1]!.length + 2 <= room)
    chars += texts[--from]!.length + 2;
  return texts.slice(from);
}

function quotedMessage(original: AgentMessage): string[] {
  const message = toModelMessage(original);
  switch (message?.role) {
    case "user":
      return said("user", textIn(blocksOf(message)));
    case "assistant":
      return message.content.flatMap((block) => {
        if (block.type === "text") return said("assistant", block.text);
        return block.type === "toolCall"
          ? said(`assistant calls ${block.name}`, JSON.stringify(block.arguments))
          : [];
      });
    case "toolResult":
      return said(`result of ${message.toolName}`, textIn(message.content) || "(no output)");
    case undefined:
      return [];
  }
}

const said = (who: string, text: string): string[] =>
  /\S/.test(text) ? [`[${who}]\n${text}`] : [];

const textIn = (blocks: readonly (TextBlock | ImageBlock)[]): string =>
  blocks.map((block) => (block.type === "text" ? block.text : "(image below)")).join("\n");

function imagesOf(original: AgentMessage): TurnInput[] {
  const message = toModelMessage(original);
  const blocks: readonly (TextBlock | ImageBlock)[] =
    message?.role === "user"
      ? blocksOf(message)
      : message?.role === "toolResult"
        ? message.content
        : [];
  return blocks.flatMap((block) =>
    block.type === "image" ? [{ type: "image" as const, url: urlOf(block) }] : [],
  );
}
