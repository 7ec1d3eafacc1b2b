// What a message is known by in the store.
import { createHash } from "node:crypto";
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";

/** A message, and what tells it from all others of its conversation. */
export interface NamedMessage {
  readonly name: string;
  readonly message: AgentMessage;
  /** True: said in a run that the host began by itself. Absent: false. */
  readonly isHeartbeat?: boolean;
}

/**
 * Its id. Only a message of a host that gives no ids is known by its key, or by all that it says:
 * then the same words at the same time are the same message.
 */
export function nameOf(message: AgentMessage): string {
  const id = messageId(message);
  if (id !== undefined) return id;
  return message.idempotencyKey === undefined
    ? `json:${createHash("sha256").update(JSON.stringify(message)).digest("hex")}`
    : `key:${message.idempotencyKey}`;
}

export const named = (message: AgentMessage): NamedMessage => ({ name: nameOf(message), message });
