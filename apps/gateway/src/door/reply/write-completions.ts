// Writes replies of Chat Completions.
import type { Usage } from "@clew/plugin-sdk/core";
import { toJson } from "../../own-json.ts";
import type { JsonObject } from "../wires/door-wire.ts";
import { createReplyStream } from "./reply-stream.ts";
import {
  promptTokens,
  type ReplyBlock,
  type ReplyEnd,
  type ReplyHead,
  type ReplyWriter,
  serverSentEvent,
} from "./reply-writer.ts";

/** The one field for thinking that most clients of this wire read. */
const THINKING = "reasoning_content";

/** One message has one text: what was said in several is told in paragraphs. */
const PARAGRAPH = "\n\n";

export const COMPLETIONS_REPLY: ReplyWriter = {
  document(head, blocks, end) {
    const calls = callsIn(blocks);
    const thinking = wordsIn(blocks, "thinking");
    const text = wordsIn(blocks, "text");
    const message = {
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : text,
      refusal: null,
      ...(thinking !== "" && { [THINKING]: thinking }),
      ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
    };
    const choice = { index: 0, message, logprobs: null, finish_reason: finishReason(end) };
    return {
      ...envelope(head, "chat.completion"),
      choices: [choice],
      ...(end.usage !== undefined && { usage: usageOf(end.usage) }),
    };
  },
  stream(head, asked) {
    const base = envelope(head, "chat.completion.chunk");
    const chunk = (delta: object, finish: string | null = null) =>
      serverSentEvent({
        ...base,
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      });
    const field = { text: "content", thinking: THINKING } as const;
    return createReplyStream({
      begin: () => chunk({ role: "assistant", content: "", refusal: null }),
      open: (type, blocks) =>
        blocks.some((block) => block.type === type) ? chunk({ [field[type]]: PARAGRAPH }) : "",
      grow: (type, _index, delta) => chunk({ [field[type]]: delta }),
      close: () => "",
      call(call, blocks) {
        const index = callsIn(blocks).length;
        return chunk({ tool_calls: [{ index, ...toolCall(call) }] });
      },
      end: (_blocks, end) =>
        chunk({}, finishReason(end)) +
        (asked.usage && end.usage !== undefined
          ? serverSentEvent({ ...base, choices: [], usage: usageOf(end.usage) })
          : "") +
        "data: [DONE]\n\n",
      fail: ({ body }) => serverSentEvent(body),
      idle: () => ": waiting\n\n",
    });
  },
};

const envelope = ({ id, model, createdAt }: ReplyHead, object: string): JsonObject => ({
  id: `chatcmpl-${id}`,
  object,
  created: Math.floor(createdAt / 1000),
  model,
});

type Call = Extract<ReplyBlock, { type: "toolCall" }>;

const callsIn = (blocks: readonly ReplyBlock[]): Call[] =>
  blocks.filter((block) => block.type === "toolCall");

const wordsIn = (blocks: readonly ReplyBlock[], type: "text" | "thinking"): string =>
  blocks
    .flatMap((block) => {
      if (block.type !== type) return [];
      return block.type === "text"
        ? [block.text]
        : block.type === "thinking"
          ? [block.thinking]
          : [];
    })
    .join(PARAGRAPH);

const toolCall = ({ id, name, arguments: given }: Call) => ({
  id,
  type: "function",
  function: { name, arguments: toJson(given) },
});

const FINISH_REASONS = { stop: "stop", length: "length", toolUse: "tool_calls" } as const;

const finishReason = ({ stopReason }: ReplyEnd) => FINISH_REASONS[stopReason];

/** `prompt_tokens` holds what came from the cache and what was written to it. */
function usageOf(usage: Usage): JsonObject {
  const prompt = promptTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
    },
  };
}
