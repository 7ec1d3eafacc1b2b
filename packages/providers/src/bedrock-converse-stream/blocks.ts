// How the blocks of a message read on the Converse wire.
import type {
  AssistantBlock,
  AssistantMessage,
  ImageBlock,
  TextBlock,
  ToolResultMessage,
  UserMessage,
} from "@clew/plugin-sdk/core";
import { isRecord, type ModelProfile, type ModelRef } from "@clew/plugin-sdk/host";
import { NO_IMAGES } from "../shared/no-images.ts";
import { readsSigned } from "./maker.ts";

/** An object with one field, whose name is its type. */
export type WireBlock = Readonly<Record<string, unknown>>;

/** Whom blocks are written for. */
export interface BlockReader {
  model: ModelRef;
  profile: ModelProfile;
}

/** None of blank text: the wire refuses it. */
export function userBlocks({ content }: UserMessage, reader: BlockReader): WireBlock[] {
  return typeof content === "string" ? textBlocks(content) : shownBlocks(content, reader);
}

/** The blocks of a reply as it came, but for what the model does not take back. */
export function assistantBlocks(message: AssistantMessage, reader: BlockReader): WireBlock[] {
  return message.content.flatMap((block) => assistantBlock(block, reader));
}

function assistantBlock(block: AssistantBlock, { model, profile }: BlockReader): WireBlock[] {
  switch (block.type) {
    case "text":
      return textBlocks(block.text);
    case "thinking": {
      const { thinking: text, thinkingSignature: signature } = block;
      if (!readsSigned(profile) || typeof signature !== "string" || signature === "") return [];
      return [{ reasoningContent: { reasoningText: { text, signature } } }];
    }
    case "redacted_thinking": {
      if (!readsSigned(profile) || !block.data) return [];
      return [{ reasoningContent: { redactedContent: block.data } }];
    }
    case "toolCall": {
      const { id: toolUseId, name, arguments: input } = block;
      return [{ toolUse: { toolUseId, name, input: withNamedKeys(input) } }];
    }
    case "provider":
      return block.api === model.api && isRecord(block.data) ? [block.data] : [];
    default:
      return [];
  }
}

/**
 * The answer to a call, and what must stand behind all answers of its turn: for some models a
 * failure may hold text only.
 */
export function toolResultBlocks(
  { toolCallId: toolUseId, content, isError }: ToolResultMessage,
  reader: BlockReader,
): { result: WireBlock; after: WireBlock[] } {
  const shown = shownBlocks(content, reader);
  const movesImages = isError && readsSigned(reader.profile);
  const images = movesImages ? shown.filter((block) => "image" in block) : [];
  const inside = movesImages ? shown.filter((block) => !("image" in block)) : shown;
  const blank = isError
    ? images.length > 0
      ? "(the tool failed; see the images below)"
      : "(the tool failed without a message)"
    : "(no output)";
  return {
    result: {
      toolResult: {
        toolUseId,
        content: inside.length === 0 ? textBlocks(blank) : inside,
        ...(isError && { status: "error" }),
      },
    },
    after:
      images.length > 0 ? [...textBlocks("Images from the failed tool above:"), ...images] : [],
  };
}

const shownBlocks = (
  content: readonly (TextBlock | ImageBlock)[],
  { model }: BlockReader,
): WireBlock[] =>
  content.flatMap((block) => {
    if (block.type === "image") return [imageBlock(block, model)];
    return block.type === "text" ? textBlocks(block.text) : [];
  });

const textBlocks = (text: string): WireBlock[] => (/\S/.test(text) ? [{ text }] : []);

const FORMATS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/jpg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};

function imageBlock({ data, mimeType }: ImageBlock, model: ModelRef): WireBlock {
  const format = FORMATS[mimeType.toLowerCase()];
  if (model.acceptsImages === false) return { text: NO_IMAGES };
  return format === undefined
    ? { text: "[image left out: this provider takes PNG, JPEG, GIF and WebP]" }
    : { image: { format, source: { bytes: data } } };
}

/** The wire refuses an object with a blank key. */
const withNamedKeys = (value: unknown): unknown => (hasBlankKey(value) ? named(value) : value);

function hasBlankKey(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasBlankKey);
  if (!isRecord(value)) return false;
  for (const key of Object.keys(value)) if (key === "" || hasBlankKey(value[key])) return true;
  return false;
}

function named(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(named);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key === "" ? "(blank)" : key, named(item)]),
  );
}
