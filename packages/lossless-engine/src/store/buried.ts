// Knows what was forgotten by its words, where it comes with another time or id.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { OwnedSession } from "../sessions/owner.ts";
import { conversationsOf } from "./conversations.ts";
import { areEmpty, gravesIn, liesIn } from "./graves.ts";
import type { Sql } from "./sql.ts";
import { hashOf, isNameOfForgotten, saltOf } from "./tombstones.ts";

/** What was forgotten of a session, or of one that has no name any more. */
export interface Buried {
  readonly isEmpty: boolean;
  /** True: the session's message of this name was forgotten. */
  hasName(name: string): boolean;
  /** True for a message that says what one says that was forgotten; each of them is one message. */
  take(message: AgentMessage): boolean;
}

interface Grave {
  readonly seq: number;
  readonly time: number | null;
  readonly id: string;
  readonly hash: Uint8Array;
}

/**
 * What is no longer kept is not among it: that may come back. `taken`: numbers of messages that
 * were taken already, also for other sessions; more are added.
 */
export function buriedOf(sql: Sql, session: OwnedSession, taken: Set<number>): Buried {
  const own = conversationsOf(sql, session);
  const unnamed = sql(`
    SELECT conversation FROM transcript WHERE session_id >= 'forgotten:' AND session_id < 'forgotten;'
  `).all();
  const all = [...own, ...unnamed.map(({ conversation }) => Number(conversation))];
  const rows = sql(`
    SELECT seq, conversation, id, role, time, hash FROM forgotten JOIN message ON seq = message
    WHERE expired = 0 AND conversation IN (SELECT value FROM json_each(?))
  `).all(JSON.stringify([...new Set(all)]));
  const names = new Set(
    rows.filter((row) => own.includes(Number(row.conversation))).map(({ id }) => String(id)),
  );
  const graves = Map.groupBy(rows, ({ role }) => String(role));
  const open = new Map([...graves].map(([role, found]) => [role, new Set(found.map(graveIn))]));
  const salt = saltOf(sql);
  const known = gravesIn(sql);
  const liesThere = liesIn(known);
  return {
    isEmpty: areEmpty(known),
    hasName: (name) => names.has(name),
    take(message) {
      const ofRole = open.get(message.role);
      for (const grave of ofRole ?? []) {
        if (taken.has(grave.seq)) ofRole?.delete(grave);
        else if (Buffer.from(grave.hash).equals(hashOf(salt, asThen(message, grave)))) {
          taken.add(grave.seq);
          return true;
        }
      }
      return liesThere(message);
    },
  };
}

const graveIn = ({ seq, time, id, hash }: Record<string, unknown>): Grave => ({
  ...{
    seq: Number(seq),
    time: time === null ? null : Number(time),
    id: String(id),
    hash: hash as Uint8Array,
  },
});

/** With the time that it had when it was forgotten; where it had none, with its id, if any. */
function asThen({ timestamp: _, __openclaw: __, ...message }: AgentMessage, grave: Grave) {
  const { time, id } = grave;
  if (time !== null) return { ...message, timestamp: time } as AgentMessage;
  return (isNameOfForgotten(id) ? message : { ...message, __openclaw: { id } }) as AgentMessage;
}
