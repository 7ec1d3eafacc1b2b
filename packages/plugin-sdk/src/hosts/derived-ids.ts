// Gives messages ids where their host gives none.
import type { AgentMessage } from "../contract/message.ts";
import { messageId, withMessageId } from "../transcript/message-id.ts";

/**
 * The id follows from role and time: hosts without ids shorten contents and rename calls, and keep
 * these two. The n-th of one role and time has a name of its own. Messages with an id, and those
 * without a time, stay as they are.
 */
export function withDerivedIds(messages: readonly AgentMessage[]): AgentMessage[] {
  const counts = new Map<string, number>();
  return messages.map((message) => {
    const { role, timestamp } = message;
    if (messageId(message) !== undefined || typeof timestamp !== "number") return message;
    const name = `${role}:${timestamp}`;
    const before = counts.get(name) ?? 0;
    counts.set(name, before + 1);
    return withMessageId(message, before === 0 ? name : `${name}:${before}`);
  });
}

/** Of a view of `history`: ids that the host did not give are none of its messages'. */
export function withoutDerivedIds(
  messages: readonly AgentMessage[],
  history: readonly AgentMessage[],
): AgentMessage[] {
  const given = new Set(history.map(messageId));
  return messages.map((message) => {
    const id = messageId(message);
    if (id === undefined || given.has(id)) return message;
    const { id: _derived, ...envelope } = message.__openclaw ?? {};
    return { ...message, __openclaw: envelope };
  });
}
