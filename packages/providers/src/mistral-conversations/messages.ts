// How agent messages read in Mistral's chat.
import type {
  AgentMessage,
  AssistantMessage,
  ImageBlock,
  TextBlock,
  ThinkingBlock,
} from "@clew/plugin-sdk/core";
import type { ModelProfile, ModelRef } from "@clew/plugin-sdk/host";
import { toModelMessage } from "@clew/plugin-sdk/transcript";
import { writeGrowing } from "../shared/growing.ts";
import { NO_IMAGES } from "../shared/no-images.ts";
import { wellFormedJson } from "../shared/well-formed.ts";

type Json = Readonly<Record<string, unknown>>;

/** Whom messages are written for. */
export interface MistralReader {
  model: ModelRef;
  profile: ModelProfile;
  /** True: nothing stands before the messages, not even a system prompt. */
  isFirst: boolean;
}

/** What stands between results and a person who speaks right behind them: nobody else may. */
const BETWEEN = { role: "assistant", content: "(seen)" };

/** What stands before an assistant who speaks first. */
const BEGIN = { role: "user", content: "(the conversation goes on)" };

/**
 * The messages of a call as JSON, joined by commas, without the system prompt. Pairing and order
 * are the transcript policy's; this only translates.
 */
export function writeMistralMessages(
  messages: readonly AgentMessage[],
  reader: MistralReader,
): string {
  const { profile, model, isFirst } = reader;
  return writeGrowing<string>({
    messages,
    // Everything about a reader that its messages depend on.
    shape: [profile, model.acceptsImages, isFirst],
    before: isFirst ? "nobody" : "",
    write: (fresh, before) => {
      let role = before;
      const written = fresh.flatMap((message): Json[] => {
        const [first, ...rest] = toWire(message, reader);
        if (first === undefined) return [];
        const breaksIn = role === "tool" && first.role === "user";
        // Without a system prompt an assistant may not begin.
        const begins = role === "nobody" && first.role !== "user";
        role = String(first.role);
        return [...(breaksIn ? [BETWEEN] : []), ...(begins ? [BEGIN] : []), first, ...rest];
      });
      return { text: wellFormedJson(written).slice(1, -1), state: role };
    },
    end: () => "",
  });
}

/** None for a message that says nothing. */
function toWire(original: AgentMessage, reader: MistralReader): readonly Json[] {
  const message = toModelMessage(original);
  switch (message?.role) {
    case "user": {
      const { content } = message;
      const blocks =
        typeof content === "string" ? [{ type: "text", text: content } as const] : content;
      const said = contentOf(blocks, reader.model);
      return said === "" ? [] : [{ role: "user", content: said }];
    }
    case "assistant":
      return assistant(message, reader.profile);
    case "toolResult": {
      const blank = message.isError ? "(the tool failed without a message)" : "(no output)";
      return [
        {
          role: "tool",
          tool_call_id: message.toolCallId,
          name: message.toolName,
          content: contentOf(message.content, reader.model) || blank,
        },
      ];
    }
    case undefined:
      return [];
  }
}

/**
 * Nothing for an assistant that said and asked nothing: the wire refuses a blank one. What is said
 * and what is asked stand in two messages, which newer models read as one: older ones take no
 * message with both.
 */
function assistant({ content }: AssistantMessage, { reasoning }: ModelProfile): Json[] {
  const text = content
    .flatMap((block) => (block.type === "text" && /\S/.test(block.text) ? [block.text] : []))
    .join("\n");
  const calls = content.filter((block) => block.type === "toolCall");
  if (text === "" && calls.length === 0) return [];
  const thinking =
    reasoning.replay === "strip" ? [] : content.filter((block) => block.type === "thinking");
  const chunk = thinkingChunk(thinking);
  const said = text === "" ? [] : [{ type: "text", text }];
  const isQuiet = text === "" && chunk === undefined;
  const asked = {
    role: "assistant",
    content: "",
    tool_calls: calls.map(({ id, name, arguments: given }) => ({
      id,
      type: "function",
      function: { name, arguments: wellFormedJson(given) },
    })),
  };
  return [
    ...(isQuiet
      ? []
      : [{ role: "assistant", content: chunk === undefined ? text : [chunk, ...said] }]),
    ...(calls.length > 0 ? [asked] : []),
  ];
}

/** One for all thinking of a message: some models take no second. */
function thinkingChunk(blocks: readonly ThinkingBlock[]): Json | undefined {
  const texts = blocks.flatMap(({ thinking }) => (thinking === "" ? [] : [thinking]));
  if (texts.length === 0) return undefined;
  const signature = blocks.find(({ carrier }) => carrier === "chunk")?.thinkingSignature;
  return {
    type: "thinking",
    thinking: texts.map((text) => ({ type: "text", text })),
    closed: true,
    ...(signature !== undefined && { signature }),
  };
}

/** Plain text where it suffices. */
function contentOf(blocks: readonly (TextBlock | ImageBlock)[], model: ModelRef): string | Json[] {
  const chunks = blocks.flatMap((block): Json[] => {
    if (block.type === "image") return [imageChunk(block, model)];
    return block.type === "text" && /\S/.test(block.text)
      ? [{ type: "text", text: block.text }]
      : [];
  });
  return chunks.some(({ type }) => type === "image_url")
    ? chunks
    : chunks.map(({ text }) => text).join("\n");
}

const imageChunk = ({ data, mimeType }: ImageBlock, model: ModelRef): Json =>
  model.acceptsImages === false
    ? { type: "text", text: NO_IMAGES }
    : { type: "image_url", image_url: `data:${mimeType};base64,${data}` };
