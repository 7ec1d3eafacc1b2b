// Writes replies of Responses.
import type { Usage } from "@clew/plugin-sdk/core";
import { toJson } from "../../own-json.ts";
import type { JsonObject } from "../wires/door-wire.ts";
import { recordOf, textOf } from "../wires/json.ts";
import { createReplyStream } from "./reply-stream.ts";
import {
  promptTokens,
  type ReplyBlock,
  type ReplyEnd,
  type ReplyHead,
  type ReplyWriter,
  serverSentEvent,
} from "./reply-writer.ts";

export const RESPONSES_REPLY: ReplyWriter = {
  document: (head, blocks, end) => finished(head, blocks, end),
  stream(head) {
    let number = 0;
    const event = (type: string, data: object) =>
      serverSentEvent({ type, sequence_number: number++, ...data }, type);
    const begun = { ...envelope(head), status: "in_progress", output: [], usage: null };
    const at = (index: number) => ({ output_index: index });
    const added = (index: number, item: object) =>
      event("response.output_item.added", { ...at(index), item });
    const done = (index: number, item: object) =>
      event("response.output_item.done", { ...at(index), item });
    return createReplyStream({
      begin: () =>
        event("response.created", { response: begun }) +
        event("response.in_progress", { response: begun }),
      open(type, blocks) {
        const index = blocks.length;
        const { kind, key, part, opened } = KINDS[type];
        const item = { ...opened, id: idOf(head, type, index) };
        const place = { item_id: item.id, ...at(index), [key]: 0 };
        return added(index, item) + event(`response.${kind}.added`, { ...place, part: part("") });
      },
      grow(type, index, delta) {
        const { words, key, beside } = KINDS[type];
        const place = { item_id: idOf(head, type, index), ...at(index), [key]: 0 };
        return event(`response.${words}.delta`, { ...place, delta, ...beside });
      },
      close(block, index) {
        const { kind, words, key, part, beside } = KINDS[block.type];
        const text = block.type === "text" ? block.text : block.thinking;
        const place = { item_id: idOf(head, block.type, index), ...at(index), [key]: 0 };
        return (
          event(`response.${words}.done`, { ...place, text, ...beside }) +
          event(`response.${kind}.done`, { ...place, part: part(text) }) +
          done(index, itemOf(head, block, index))
        );
      },
      call(call, blocks) {
        const index = blocks.length;
        const item = itemOf(head, call, index);
        const place = { item_id: item.id, ...at(index) };
        const { arguments: text } = item;
        return (
          added(index, { ...item, arguments: "", status: "in_progress" }) +
          event("response.function_call_arguments.delta", { ...place, delta: text }) +
          event("response.function_call_arguments.done", {
            ...place,
            name: call.name,
            arguments: text,
          }) +
          done(index, item)
        );
      },
      end(blocks, end) {
        const response = finished(head, blocks, end);
        return event(`response.${String(response.status)}`, { response });
      },
      fail({ body }) {
        const { code, type, message } = recordOf(body.error);
        const error = { code: code ?? ERROR_CODES[textOf(type)] ?? "server_error", message };
        const response = { ...envelope(head), status: "failed", error, output: [], usage: null };
        return event("response.failed", { response });
      },
      idle: () => ": waiting\n\n",
    });
  },
};

/** What this wire calls an error in the middle of a stream. */
const ERROR_CODES: Readonly<Record<string, string>> = {
  rate_limit_error: "rate_limit_exceeded",
  invalid_request_error: "invalid_prompt",
};

/** How the two kinds of item that grow are told of. */
const KINDS = {
  text: {
    kind: "content_part",
    words: "output_text",
    key: "content_index",
    part: (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] }),
    opened: { type: "message", role: "assistant", status: "in_progress", content: [] },
    beside: { logprobs: [] },
  },
  thinking: {
    kind: "reasoning_summary_part",
    words: "reasoning_summary_text",
    key: "summary_index",
    part: (text: string) => ({ type: "summary_text", text }),
    opened: { type: "reasoning", summary: [] },
    beside: {},
  },
} as const;

const PREFIX = { text: "msg", thinking: "rs", toolCall: "fc" } as const;

const idOf = ({ id }: ReplyHead, type: ReplyBlock["type"], index: number): string =>
  `${PREFIX[type]}_${id}_${index}`;

function itemOf(head: ReplyHead, block: ReplyBlock, index: number): JsonObject {
  const id = idOf(head, block.type, index);
  switch (block.type) {
    case "text": {
      const content = [KINDS.text.part(block.text)];
      return { id, type: "message", role: "assistant", status: "completed", content };
    }
    case "thinking":
      return { id, type: "reasoning", summary: [KINDS.thinking.part(block.thinking)] };
    case "toolCall":
      return {
        id,
        type: "function_call",
        status: "completed",
        call_id: block.id,
        name: block.name,
        arguments: toJson(block.arguments),
      };
  }
}

const envelope = ({ id, model, createdAt, repeated }: ReplyHead): JsonObject => ({
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: null,
  tool_choice: "auto",
  tools: [],
  top_p: null,
  previous_response_id: null,
  store: true,
  ...repeated,
  id: `resp_${id}`,
  object: "response",
  created_at: Math.floor(createdAt / 1000),
  model,
});

function finished(
  head: ReplyHead,
  blocks: readonly ReplyBlock[],
  { stopReason, usage }: ReplyEnd,
): JsonObject {
  const isCut = stopReason === "length";
  return {
    ...envelope(head),
    status: isCut ? "incomplete" : "completed",
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    output: blocks.map((block, index) => itemOf(head, block, index)),
    usage: usage === undefined ? null : usageOf(usage),
  };
}

/** `input_tokens` holds what came from the cache and what was written to it. */
function usageOf(usage: Usage): JsonObject {
  const input = promptTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
    },
    output_tokens: usage.output,
    // Nobody says how much of it was thought.
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + usage.output,
  };
}
