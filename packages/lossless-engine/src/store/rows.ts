// What a row of the table of messages holds.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { NamedMessage } from "../messages/name.ts";
import { unpackMessage } from "./body.ts";
import type { MessageName } from "./conversations.ts";
import { payloadsOf } from "./payloads.ts";
import type { Sql } from "./store.ts";

/** A message as it was stored. */
export interface StoredMessage extends NamedMessage {
  /** Order of arrival, the same for good. */
  readonly seq: number;
  readonly conversation: number;
  /** Number of the turn it belongs to; 0 = before the first. */
  readonly turn: number;
}

/** Bits of the column `flags`. */
export const FLAGS = { seen: 1, heartbeat: 2, hasPayloads: 4 } as const;

export function messageOf(sql: Sql, row: Record<string, unknown>): StoredMessage {
  const seq = Number(row.seq);
  const flags = Number(row.flags);
  const payloads = (flags & FLAGS.hasPayloads) === 0 ? [] : payloadsOf(sql, seq);
  return {
    seq,
    conversation: Number(row.conversation),
    name: String(row.id),
    turn: Number(row.turn),
    ...((flags & FLAGS.heartbeat) !== 0 && { isHeartbeat: true }),
    message: unpackMessage({ body: String(row.body), payloads }),
  };
}

export const nameAndTime = ({ name, message }: NamedMessage): MessageName => ({
  name,
  role: message.role,
  time: timeOf(message),
});

/** Milliseconds; hosts that write a date instead give none here. */
export const timeOf = ({ timestamp }: AgentMessage): number | null =>
  Number.isSafeInteger(timestamp) ? (timestamp as number) : null;
