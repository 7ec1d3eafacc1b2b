// What a row of the table of messages holds.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { NamedMessage } from "../messages/name.ts";
import { unpackMessage } from "./body.ts";
import type { MessageName } from "./conversations.ts";
import { textKept } from "./kept-text.ts";
import { payloadsOf } from "./payloads.ts";
import type { Sql } from "./store.ts";

/** A message as it was stored. */
export interface StoredMessage extends NamedMessage {
  /** Order of arrival, the same for good. */
  readonly seq: number;
  readonly conversation: number;
  /** Number of the turn it belongs to; 0 = before the first. */
  readonly turn: number;
  /** True: it holds texts so long that they are stored as files. */
  readonly hasFiles: boolean;
}

/** Bits of the column `flags`. */
export const FLAGS = { seen: 1, heartbeat: 2, hasPayloads: 4 } as const;

export function messageOf(sql: Sql, row: Record<string, unknown>): StoredMessage {
  const seq = Number(row.seq);
  const flags = Number(row.flags);
  const hasFiles = (flags & FLAGS.hasPayloads) !== 0;
  const payloads = hasFiles ? payloadsOf(sql, seq) : [];
  return {
    seq,
    conversation: Number(row.conversation),
    name: String(row.id),
    turn: Number(row.turn),
    hasFiles,
    ...((flags & FLAGS.heartbeat) !== 0 && { isHeartbeat: true }),
    message: unpackMessage({ body: textKept(row.body), payloads }),
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
