// Gives the messages that an engine wrote a time, for hosts that show one.
import type { AgentMessage } from "../contract/message.ts";

/**
 * The time of the message behind it, else of the one before: the same view has the same bytes
 * whenever it is made. Where no message has a time, none gets one.
 */
export function withTimes(messages: readonly AgentMessage[]): AgentMessage[] {
  const newest = messages.findLast(({ timestamp }) => timestamp !== undefined)?.timestamp;
  if (newest === undefined) return [...messages];
  let next = newest;
  return messages
    .toReversed()
    .map((message) => {
      next = message.timestamp ?? next;
      return message.timestamp === undefined ? { ...message, timestamp: next } : message;
    })
    .reverse();
}
