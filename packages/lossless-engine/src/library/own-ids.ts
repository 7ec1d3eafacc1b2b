// Knows messages of programs that are no host by the ids that they have of their own.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { withMessageId } from "@clew/plugin-sdk/transcript";

/** Pure. A message with an `id` or a `messageId` is known by it, unless a host gave it one. */
export function withOwnId(message: AgentMessage): AgentMessage {
  if (typeof message !== "object" || message === null || messageId(message) !== undefined)
    return message;
  const { id, messageId: other } = message as unknown as Record<string, unknown>;
  const own = [id, other].find(isId);
  return own === undefined ? message : withMessageId(message, String(own));
}

const isId = (value: unknown): value is string | number | bigint =>
  typeof value === "string" ? value !== "" : typeof value === "bigint" || Number.isFinite(value);
