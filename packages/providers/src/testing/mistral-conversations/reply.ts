// A scripted reply as Mistral's chunks, or as one document.
import {
  argumentsText,
  blocksOf,
  callsOf,
  type EmulatedReply,
  pieces,
  type ReplyBlock,
} from "../server/reply.ts";
import { type Accepted, type Exchange, type Frames, sse } from "../server/wire.ts";

type MistralExchange = Exchange<Accepted>;

export function document(reply: EmulatedReply, exchange: MistralExchange): object {
  const blocks = blocksOf(reply);
  const content = blocks.flatMap((block) => contentOf(block, (text) => [text]));
  const isText = content.every((chunk) => chunk.type === "text");
  const tool_calls = toolCalls(reply, exchange);
  const message = {
    role: "assistant",
    content: isText ? content.map(({ text }) => text).join("") : content,
    tool_calls: tool_calls.length === 0 ? null : tool_calls,
    prefix: false,
  };
  return {
    ...envelope(exchange),
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: finishReason(reply) }],
    usage: usageOf(exchange),
  };
}

/** Calls come whole, in one chunk each, as this provider sends them. */
export function frames(reply: EmulatedReply, exchange: MistralExchange): Frames {
  const chunk = (delta: object, finish_reason: string | null, usage?: object) => ({
    ...envelope(exchange),
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason }],
    ...(usage !== undefined && { usage }),
  });
  const said = blocksOf(reply)
    .flatMap((block) => contentOf(block, (text) => pieces(text, reply)))
    .map((content) => ({ content: content.type === "text" ? content.text : [content] }));
  const calls = toolCalls(reply, exchange).map((call) => ({ content: "", tool_calls: [call] }));
  const started = [{ role: "assistant", content: "" }, ...said, ...calls].map((delta) =>
    chunk(delta, null),
  );
  const ending = chunk({ content: "" }, finishReason(reply), usageOf(exchange));
  return {
    frames: [...[...started, ending].map((event) => sse(event)), "data: [DONE]\n\n"],
    end: started.length,
  };
}

type Chunk =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: { type: "text"; text: string }[]; closed: boolean };

function contentOf(block: ReplyBlock, cut: (text: string) => string[]): Chunk[] {
  switch (block.type) {
    case "text":
      return cut(block.text).map((text) => ({ type: "text", text }));
    case "thinking":
      return cut(block.text).map((text, index, all) => ({
        type: "thinking",
        thinking: [{ type: "text", text }],
        closed: index === all.length - 1,
      }));
    case "call":
      return [];
  }
}

const toolCalls = (reply: EmulatedReply, { nonce }: MistralExchange) =>
  callsOf(reply).map((call, index) => ({
    // Nine letters and digits.
    id: call.id ?? `${nonce.padEnd(6, "0").slice(0, 6)}${String(index).padStart(3, "0")}`,
    type: "function",
    function: { name: call.name, arguments: argumentsText(call) },
    index,
  }));

const envelope = ({ model, nonce }: MistralExchange) => ({ id: nonce, created: 0, model });

const finishReason = (reply: EmulatedReply) =>
  reply.finishReason ?? (callsOf(reply).length > 0 ? "tool_calls" : "stop");

/** The wire has no way to tell none. */
function usageOf({ usage }: MistralExchange): object {
  const { fresh, read, written, writtenLong, output } = usage ?? NOTHING;
  const prompt = fresh + read + written + writtenLong;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: read, audio_tokens: 0 },
  };
}

const NOTHING = { fresh: 0, read: 0, written: 0, writtenLong: 0, output: 0 };
