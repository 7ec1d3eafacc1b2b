// The ids of tool calls in a message, and the same message with others.
import type { AgentMessage } from "@clew/plugin-sdk/core";

/** In order: of the calls of a reply, or of the call that a result answers. */
export function callIdsOf(message: AgentMessage): string[] {
  if (message.role === "toolResult") return [message.toolCallId];
  if (message.role !== "assistant" || !Array.isArray(message.content)) return [];
  return message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}

/** Fields by which results name their call. */
const RESULT_FIELDS: ReadonlySet<string> = new Set([
  ...["call_id", "callId", "tool_call_id", "tool_use_id", "toolCallId", "toolUseId"],
]);

/** What says the same under `ids`, as `callIdsOf` gives them; the fields keep their order. */
export function withCallIds(message: AgentMessage, ids: readonly string[]): AgentMessage {
  if (message.role === "toolResult") {
    const fields = Object.entries(message).map(([name, value]) =>
      RESULT_FIELDS.has(name) && typeof value === "string"
        ? [name, ids[0] ?? value]
        : [name, value],
    );
    return Object.fromEntries(fields) as AgentMessage;
  }
  if (message.role !== "assistant" || !Array.isArray(message.content)) return message;
  let at = 0;
  const content = message.content.map((block) =>
    block.type === "toolCall" ? { ...block, id: ids[at++] ?? block.id } : block,
  );
  return { ...message, content };
}
