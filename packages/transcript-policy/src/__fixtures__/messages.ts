// Builds stored messages in words.
import type { AgentMessage } from "@clew/plugin-sdk/core";

const message = (fields: object): AgentMessage => fields as AgentMessage;

export const user = (content: unknown, more: object = {}) =>
  message({ role: "user", content, ...more });
export const assistant = (content: unknown, more: object = {}) =>
  message({ role: "assistant", content, stopReason: "stop", ...more });
export const asking = (content: unknown[], more: object = {}) =>
  assistant(content, { stopReason: "toolUse", ...more });
export const result = (toolCallId: string, more: object = {}) =>
  message({
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content: [text("ok")],
    isError: false,
    ...more,
  });
export const summary = (timestamp: number) =>
  message({ role: "compactionSummary", summary: "Earlier talk.", tokensBefore: 9, timestamp });

export const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more });
export const call = (id: unknown, more: object = {}) => ({
  type: "toolCall",
  id,
  name: "read",
  arguments: { path: "a" },
  ...more,
});
export const thinking = (thinkingSignature?: unknown, more: object = {}) => ({
  type: "thinking",
  thinking: "hm",
  ...(thinkingSignature !== undefined && { thinkingSignature }),
  ...more,
});
export const reasoning = (id: string) =>
  thinking(JSON.stringify({ id, type: "reasoning", summary: [] }));

export const SIGNATURE = "RXZlcnkgc2lnbmF0dXJlIGlzIG9wYXF1ZS4=";
export const clock = { now: () => 1000 };
