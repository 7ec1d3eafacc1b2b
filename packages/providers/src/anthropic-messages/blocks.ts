// How the blocks of a message read on the Messages wire.
import type {
  AssistantBlock,
  AssistantMessage,
  ImageBlock,
  ToolResultMessage,
  UserMessage,
} from "@clew/plugin-sdk/core";
import { isRecord, type ModelProfile, type ModelRef } from "@clew/plugin-sdk/host";
import { NO_IMAGES } from "../shared/no-images.ts";

/** As JSON; of an opaque one only the type is known. */
export interface WireBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Whom blocks are written for. */
export interface BlockReader {
  model: ModelRef;
  profile: ModelProfile;
}

/** None of blank text: the wire refuses it. */
export function userBlocks({ content }: UserMessage, { model }: BlockReader): WireBlock[] {
  if (typeof content === "string") return textBlocks(content);
  return content.flatMap((block) => {
    if (block.type === "image") return [imageBlock(block, model)];
    return block.type === "text" ? textBlocks(block.text) : [];
  });
}

/** The blocks of a reply as it came, but for what the model does not take back. */
export function assistantBlocks(message: AssistantMessage, reader: BlockReader): WireBlock[] {
  return message.content.flatMap((block) => assistantBlock(block, reader));
}

function assistantBlock(block: AssistantBlock, { model, profile }: BlockReader): WireBlock[] {
  const takesThinking = profile.reasoning.replay !== "strip";
  switch (block.type) {
    case "text":
      return textBlocks(block.text);
    case "thinking": {
      const { thinking, thinkingSignature: signature } = block;
      if (!takesThinking || typeof signature !== "string" || signature === "") return [];
      return [{ type: "thinking", thinking, signature }];
    }
    case "redacted_thinking":
      return takesThinking && block.data ? [{ type: "redacted_thinking", data: block.data }] : [];
    case "toolCall":
      return [{ type: "tool_use", id: block.id, name: block.name, input: block.arguments }];
    case "provider":
      return block.api === model.api && isWireBlock(block.data) ? [block.data] : [];
    default:
      return [];
  }
}

/**
 * The answer to a call, and what must stand behind all answers of its turn: a failure may hold text
 * only.
 */
export function toolResultBlocks(
  { toolCallId, content, isError }: ToolResultMessage,
  { model }: BlockReader,
): { result: WireBlock; after: WireBlock[] } {
  const texts = content.flatMap((block) => (block.type === "text" ? textBlocks(block.text) : []));
  const images = content.flatMap((block) =>
    block.type === "image" ? [imageBlock(block, model)] : [],
  );
  const inside = isError ? texts : [...texts, ...images];
  const blank = isError
    ? images.length > 0
      ? "(the tool failed; see the images below)"
      : "(the tool failed without a message)"
    : "(no output)";
  return {
    result: {
      type: "tool_result",
      tool_use_id: toolCallId,
      content: inside.length === 0 ? textBlocks(blank) : inside,
      ...(isError && { is_error: true }),
    },
    after:
      isError && images.length > 0
        ? [...textBlocks("Images from the failed tool above:"), ...images]
        : [],
  };
}

/** True for a block that may carry a mark for the cache. */
export const isMarkable = ({ type }: WireBlock): boolean =>
  type === "text" || type === "image" || type === "tool_use" || type === "tool_result";

const textBlocks = (text: string): WireBlock[] => (/\S/.test(text) ? [{ type: "text", text }] : []);

function imageBlock({ data, mimeType }: ImageBlock, model: ModelRef): WireBlock {
  return model.acceptsImages === false
    ? { type: "text", text: NO_IMAGES }
    : { type: "image", source: { type: "base64", media_type: mimeType, data } };
}

const isWireBlock = (data: unknown): data is WireBlock =>
  isRecord(data) && typeof data.type === "string";
