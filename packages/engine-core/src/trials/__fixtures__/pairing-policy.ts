// The least a provider asks of a history: every tool call with its result, in its place.
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "@clew/plugin-sdk/core";
import type { PolicyPort } from "../../index.ts";

/** As hosts have it: what nothing changed is the same array, what it changed is another object. */
export const pairingPolicy: PolicyPort = {
  async sanitizeHistory({ messages }) {
    return { messages, changes: [], sideRecords: [] };
  },
  repairPairing: ({ messages }) => ({ messages: repaired(messages), changes: [] }),
  prepareOutbound: ({ messages }) => ({ messages: repaired(messages), changes: [] }),
};

function repaired(messages: readonly AgentMessage[]): readonly AgentMessage[] {
  const kept: AgentMessage[] = [];
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!;
    if (message.role === "toolResult") continue;
    kept.push(message);
    if (message.role !== "assistant") continue;
    const results = resultsAfter(messages, index);
    const answered = withoutUnanswered(message, results);
    kept.splice(-1, 1, ...(answered.content.length > 0 ? [answered] : []));
    kept.push(...results.filter(({ toolCallId }) => callIds(answered).includes(toolCallId)));
  }
  const isSame =
    kept.length === messages.length && kept.every((message, index) => message === messages[index]);
  return isSame ? messages : kept;
}

function resultsAfter(messages: readonly AgentMessage[], index: number): ToolResultMessage[] {
  const results: ToolResultMessage[] = [];
  for (const message of messages.slice(index + 1)) {
    if (message.role !== "toolResult") break;
    results.push(message);
  }
  return results;
}

function withoutUnanswered(
  message: AssistantMessage,
  results: readonly ToolResultMessage[],
): AssistantMessage {
  const answered = new Set(results.map(({ toolCallId }) => toolCallId));
  const content = message.content.filter(
    (block) => block.type !== "toolCall" || answered.has(block.id),
  );
  return content.length === message.content.length ? message : { ...message, content };
}

export const callIds = (message: AgentMessage): string[] =>
  message.role === "assistant"
    ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
    : [];
