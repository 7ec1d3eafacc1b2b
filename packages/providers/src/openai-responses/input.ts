// How agent messages read as items of the Responses wire.
import type {
  AgentMessage,
  AssistantBlock,
  ImageBlock,
  TextBlock,
  ToolResultMessage,
  UserMessage,
} from "@clew/plugin-sdk/core";
import { isRecord, type ModelProfile, type ModelRef } from "@clew/plugin-sdk/host";
import { toModelMessage } from "@clew/plugin-sdk/transcript";
import { writeGrowing } from "../shared/growing.ts";
import { NO_IMAGES } from "../shared/no-images.ts";
import { wellFormedJson } from "../shared/well-formed.ts";
import { phaseOf, reasoningOf } from "./signatures.ts";

type Json = Readonly<Record<string, unknown>>;

/** Whom items are written for. */
export interface ItemReader {
  model: ModelRef;
  profile: ModelProfile;
  /** The last of so many messages from the first on is marked for the cache; 0 = none is. */
  stableMessages: number;
}

/**
 * The items of a call as JSON, joined by commas, none with an id: the server stores nothing that
 * an id could name. Pairing and order are the transcript policy's; this only translates.
 */
export function writeInput(messages: readonly AgentMessage[], reader: ItemReader): string {
  const { model, profile, stableMessages } = reader;
  return writeGrowing<number>({
    messages,
    // Everything about a reader that its items depend on.
    shape: [profile, model.api, model.acceptsImages, stableMessages],
    before: 0,
    write: (fresh, count) => {
      const items = fresh.flatMap((message, index) => {
        const made = itemsOf(message, reader);
        return count + index + 1 === stableMessages ? marked(made) : made;
      });
      return { text: wellFormedJson(items).slice(1, -1), state: count + fresh.length };
    },
    end: () => "",
  });
}

const EXPLICIT = { mode: "explicit" };

/** With a mark on the last part of the last item, unless the model wrote that. */
function marked(items: Json[]): Json[] {
  const last = items.at(-1);
  if (last === undefined || last.role !== "user" || !Array.isArray(last.content)) return items;
  const part = last.content.at(-1) as Json;
  const content = last.content.with(-1, { ...part, prompt_cache_breakpoint: EXPLICIT });
  return items.with(-1, { ...last, content });
}

function itemsOf(original: AgentMessage, reader: ItemReader): Json[] {
  const message = toModelMessage(original);
  switch (message?.role) {
    case "user":
      return userItems(message, reader.model);
    case "assistant":
      return message.content.flatMap((block) => assistantItems(block, reader));
    case "toolResult":
      return [
        {
          type: "function_call_output",
          call_id: callId(message.toolCallId),
          output: outputOf(message, reader.model),
        },
      ];
    case undefined:
      return [];
  }
}

/** None for a person who said nothing. */
function userItems({ content }: UserMessage, model: ModelRef): Json[] {
  const blocks: readonly (TextBlock | ImageBlock)[] =
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  const parts = partsOf(blocks, model);
  return parts.length === 0 ? [] : [{ type: "message", role: "user", content: parts }];
}

function assistantItems(block: AssistantBlock, { model, profile }: ItemReader): Json[] {
  switch (block.type) {
    case "text": {
      if (!/\S/.test(block.text)) return [];
      const phase = phaseOf(block.textSignature);
      const content = [{ type: "output_text", text: block.text }];
      return [
        { type: "message", role: "assistant", content, ...(phase !== undefined && { phase }) },
      ];
    }
    case "thinking": {
      const item = reasoningOf(block.thinkingSignature);
      return item === undefined || profile.reasoning.replay === "strip" ? [] : [item];
    }
    case "toolCall":
      return [
        {
          type: "function_call",
          call_id: callId(block.id),
          name: block.name,
          arguments: wellFormedJson(block.arguments),
        },
      ];
    case "provider":
      return block.api === model.api && isRecord(block.data) ? [block.data] : [];
    default:
      return [];
  }
}

/** Text where it suffices. */
function outputOf({ content, isError }: ToolResultMessage, model: ModelRef): string | Json[] {
  const parts = partsOf(content, model);
  if (parts.some(({ type }) => type === "input_image")) return parts;
  const text = parts.map((part) => part.text).join("\n");
  return text !== "" ? text : isError ? "(the tool failed without a message)" : "(no output)";
}

const partsOf = (blocks: readonly (TextBlock | ImageBlock)[], model: ModelRef): Json[] =>
  blocks.flatMap((block): Json[] => {
    if (block.type === "image") return [imagePart(block, model)];
    return block.type === "text" && /\S/.test(block.text)
      ? [{ type: "input_text", text: block.text }]
      : [];
  });

function imagePart({ data, mimeType }: ImageBlock, model: ModelRef): Json {
  return model.acceptsImages === false
    ? { type: "input_text", text: NO_IMAGES }
    : { type: "input_image", detail: "auto", image_url: `data:${mimeType};base64,${data}` };
}

const LONGEST_ID = 64;

/**
 * The id of a call; one that was stored with the id of its item becomes one of both, so that calls
 * which differ in the item only stay different.
 */
function callId(id: string): string {
  const joined = id.replace("|", "_");
  return joined.length <= LONGEST_ID ? joined : `${joined.slice(0, 31)}_${joined.slice(-32)}`;
}
