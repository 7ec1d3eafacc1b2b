// Writes replies of Anthropic's Messages.
import type { Usage } from "@clew/plugin-sdk/core";
import { ZERO_USAGE } from "@clew/plugin-sdk/host";
import { toJson } from "../../own-json.ts";
import type { JsonObject } from "../wires/door-wire.ts";
import { createReplyStream, type GrowingBlock } from "./reply-stream.ts";
import {
  type ReplyBlock,
  type ReplyEnd,
  type ReplyHead,
  type ReplyWriter,
  serverSentEvent,
} from "./reply-writer.ts";

export const MESSAGES_REPLY: ReplyWriter = {
  document: (head, blocks, end) => ({
    ...envelope(head),
    content: blocks.map(contentBlock),
    stop_reason: STOP_REASONS[end.stopReason],
    usage: usageOf(end.usage),
  }),
  stream(head) {
    const event = (type: string, data: object) => serverSentEvent({ type, ...data }, type);
    const start = (index: number, content_block: object) =>
      event("content_block_start", { index, content_block });
    const delta = (index: number, data: object) =>
      event("content_block_delta", { index, delta: data });
    const stop = (index: number) => event("content_block_stop", { index });
    return createReplyStream({
      // What the prompt weighs is known at the end only.
      begin: () =>
        event("message_start", {
          message: { ...envelope(head), content: [], stop_reason: null, usage: usageOf(undefined) },
        }),
      open: (type, blocks) => start(blocks.length, contentBlock(EMPTY[type])),
      grow: (type, index, words) =>
        delta(
          index,
          type === "text"
            ? { type: "text_delta", text: words }
            : { type: "thinking_delta", thinking: words },
        ),
      close: ({ type }, index) =>
        (type === "thinking"
          ? delta(index, { type: "signature_delta", signature: UNSIGNED })
          : "") + stop(index),
      call(call, blocks) {
        const index = blocks.length;
        const partial_json = toJson(call.arguments);
        return (
          start(index, { ...contentBlock(call), input: {} }) +
          delta(index, { type: "input_json_delta", partial_json }) +
          stop(index)
        );
      },
      end: (_blocks, end: ReplyEnd) =>
        event("message_delta", {
          delta: { stop_reason: STOP_REASONS[end.stopReason], stop_sequence: null },
          usage: usageOf(end.usage),
        }) + event("message_stop", {}),
      fail: ({ body }) => serverSentEvent(body, "error"),
      idle: () => event("ping", {}),
    });
  },
};

/** The wire wants a signature; Clew keeps the provider's, and none of its own would be read. */
const UNSIGNED = "";

const EMPTY: Readonly<Record<GrowingBlock["type"], GrowingBlock>> = {
  text: { type: "text", text: "" },
  thinking: { type: "thinking", thinking: "" },
};

const envelope = ({ id, model }: ReplyHead): JsonObject => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  model,
  stop_sequence: null,
});

function contentBlock(block: ReplyBlock): JsonObject {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, citations: null };
    case "thinking":
      return { type: "thinking", thinking: block.thinking, signature: UNSIGNED };
    case "toolCall":
      return { type: "tool_use", id: block.id, name: block.name, input: block.arguments };
  }
}

const STOP_REASONS = { stop: "end_turn", length: "max_tokens", toolUse: "tool_use" } as const;

/** Here `input_tokens` holds neither what came from the cache nor what was written to it. */
function usageOf(usage: Usage = ZERO_USAGE): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
  };
}
