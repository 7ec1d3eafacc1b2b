// Which message is which, however often it was copied, shortened or stored again.
import type { AgentMessage } from "../contract/message.ts";
import { blocksOf } from "../messages/blocks.ts";
import { textOf } from "./text.ts";
import { toolCallsOf } from "./tool-pairs.ts";

/**
 * The id of the entry that first stored the message, `__openclaw.id`. It is plain data and the same
 * in every call, before and after a rewrite, a compaction, a restart or a move to another
 * transcript, so it is what to deduplicate by (contract, "Decided since", law 1). Undefined: the
 * message was never stored, was made by an engine, or its host gives no ids.
 * @example
 * ```ts
 * import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
 *
 * const message: AgentMessage = { role: "user", content: "Hi", __openclaw: { id: "5e884898" } };
 * const copy: AgentMessage = JSON.parse(JSON.stringify({ ...message, content: "Hi!" }));
 * console.log(messageId(message), messageId(copy));
 * ```
 *
 * ```text
 * 5e884898 5e884898
 * ```
 */
export function messageId(message: AgentMessage): string | undefined {
  const id: unknown = message.__openclaw?.id;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/**
 * True when both stand for the same stored message. Their ids decide, if both have one, and their
 * idempotency keys, if both have one of those. Otherwise this is a guess: the same role with the
 * same tool calls or, where neither has any, with the same text and pictures.
 */
export function sameMessage(a: AgentMessage, b: AgentMessage): boolean {
  const [idA, idB] = [messageId(a), messageId(b)];
  if (idA !== undefined && idB !== undefined) return idA === idB;
  if (a.idempotencyKey !== undefined && b.idempotencyKey !== undefined)
    return a.idempotencyKey === b.idempotencyKey;
  if (a.role !== b.role) return false;
  const [callsA, callsB] = [callIds(a), callIds(b)];
  if (callsA.length > 0 || callsB.length > 0) return equal(callsA, callsB);
  return textOf(a) === textOf(b) && equal(pictures(a), pictures(b));
}

/** The message with this id; the very message when it has it already. */
export function withMessageId<Message extends AgentMessage>(message: Message, id: string): Message {
  return message.__openclaw?.id === id
    ? message
    : { ...message, __openclaw: { ...message.__openclaw, id } };
}

function callIds(message: AgentMessage): readonly string[] {
  return message.role === "toolResult"
    ? [message.toolCallId]
    : toolCallsOf(message, 0).map(({ id }) => id);
}

const pictures = (message: AgentMessage): readonly unknown[] =>
  "content" in message
    ? blocksOf(message.content).flatMap((block) => (block.type === "image" ? [block.data] : []))
    : [];

const equal = (a: readonly unknown[], b: readonly unknown[]) =>
  a.length === b.length && a.every((each, index) => each === b[index]);
