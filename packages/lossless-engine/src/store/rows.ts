// What a row of the table of messages holds.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { NamedMessage } from "../messages/name.ts";
import { unpackMessage } from "./body.ts";
import { textKept } from "./kept-text.ts";
import { payloadsOf } from "./payloads.ts";
import type { Sql } from "./sql.ts";

/** A message as it was stored. */
export interface StoredMessage extends NamedMessage {
  /** Order of arrival, the same for good. */
  readonly seq: number;
  readonly conversation: number;
  /** Number of the turn it belongs to; 0 = before the first. */
  readonly turn: number;
  /** True: it holds texts so long that they are stored as files. */
  readonly hasFiles: boolean;
  /** True: its row is damaged, and `message` says only that. Absent: it is not. */
  readonly isDamaged?: true;
  /** True: what it said was forgotten, or is no longer kept. Absent: it is as it was told. */
  readonly isForgotten?: true;
  /** True: said on a branch that the session has left. Absent: false. */
  readonly isLeft?: boolean;
}

/** Bits of the column `flags`. */
export const FLAGS = { seen: 1, heartbeat: 2, hasPayloads: 4, left: 8, forgotten: 16 } as const;

/** A damaged row takes nothing from the others: its message is there, and says so. */
export function messageOf(sql: Sql, row: Record<string, unknown>): StoredMessage {
  const flags = Number(row.flags);
  const whole = wholeMessage(sql, row);
  return {
    seq: Number(row.seq),
    conversation: Number(row.conversation),
    name: String(row.id),
    turn: Number(row.turn),
    hasFiles: whole !== undefined && (flags & FLAGS.hasPayloads) !== 0,
    ...((flags & FLAGS.heartbeat) !== 0 && { isHeartbeat: true }),
    ...((flags & FLAGS.left) !== 0 && { isLeft: true }),
    ...((flags & FLAGS.forgotten) !== 0 && { isForgotten: true as const }),
    ...(whole === undefined && { isDamaged: true }),
    message: whole ?? saysDamaged(row),
  };
}

/** Undefined: it is damaged. What SQLite itself cannot read is its own failure. */
function wholeMessage(sql: Sql, row: Record<string, unknown>): AgentMessage | undefined {
  try {
    const hasPayloads = (Number(row.flags) & FLAGS.hasPayloads) !== 0;
    const payloads = hasPayloads ? payloadsOf(sql, Number(row.seq)) : [];
    const message = unpackMessage({ body: textKept(row.body), payloads });
    // A database keeps no half of a surrogate pair.
    return message.role.toWellFormed() === row.role ? message : undefined;
  } catch (error) {
    if (error instanceof Error && isOfSqlite(error)) throw error;
    return undefined;
  }
}

const isOfSqlite = (error: Error) =>
  "errcode" in error || ("code" in error && error.code === "ERR_OUT_OF_RANGE");

const DAMAGED = "(This message is damaged in the database and cannot be read.)";

const saysDamaged = ({ role, time }: Record<string, unknown>): AgentMessage =>
  ({
    ...{ role, content: [{ type: "text", text: DAMAGED }] },
    ...(time !== null && { timestamp: Number(time) }),
  }) as unknown as AgentMessage;

/** Where dates end, ms. */
const MOST_MS = 8.64e15;

/** Milliseconds; session files that write a date instead give none here. */
export const timeOf = ({ timestamp }: AgentMessage): number | null =>
  Number.isSafeInteger(timestamp) && Math.abs(timestamp!) <= MOST_MS ? timestamp! : null;
