// Writes replies of Google's generateContent.
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

export const GENERATE_CONTENT_REPLY: ReplyWriter = {
  document: (head, blocks, end) => response(head, blocks.map(partOf), end),
  stream(head, { isEvents }) {
    let before = "[";
    // Without alt=sse it is one list, written piece by piece.
    const written = (data: object) => {
      if (isEvents) return serverSentEvent(data);
      const text = `${before}${toJson(data)}`;
      before = ",\n";
      return text;
    };
    const chunk = (part: JsonObject) => written(response(head, [part]));
    return createReplyStream({
      begin: () => "",
      open: () => "",
      grow: (type, _index, words) =>
        chunk(partOf(type === "text" ? { type, text: words } : { type, thinking: words })),
      close: () => "",
      call: (call) => chunk(partOf(call)),
      end: (_blocks, end) => written(response(head, [{ text: "" }], end)) + (isEvents ? "" : "]"),
      fail: ({ body }) => written(body) + (isEvents ? "" : "]"),
      idle: () => (isEvents ? ": waiting\n\n" : "\n"),
    });
  },
};

function response(
  { id, model }: ReplyHead,
  parts: readonly JsonObject[],
  end?: ReplyEnd,
): JsonObject {
  const finishReason = end === undefined ? {} : { finishReason: FINISH_REASONS[end.stopReason] };
  return {
    candidates: [{ content: { role: "model", parts }, ...finishReason, index: 0 }],
    ...(end?.usage !== undefined && { usageMetadata: usageOf(end.usage) }),
    modelVersion: model,
    responseId: id,
  };
}

/** A reply that calls has no reason of its own here. */
const FINISH_REASONS = { stop: "STOP", length: "MAX_TOKENS", toolUse: "STOP" } as const;

function partOf(block: ReplyBlock): JsonObject {
  switch (block.type) {
    case "text":
      return { text: block.text };
    case "thinking":
      return { text: block.thinking, thought: true };
    case "toolCall":
      return { functionCall: { id: block.id, name: block.name, args: block.arguments } };
  }
}

/** `promptTokenCount` holds what came from the cache. */
function usageOf(usage: Usage): JsonObject {
  const prompt = promptTokens(usage);
  return {
    promptTokenCount: prompt,
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    candidatesTokenCount: usage.output,
    totalTokenCount: prompt + usage.output,
  };
}
