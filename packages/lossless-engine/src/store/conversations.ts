// Which conversation a transcript tells, and which ones belong to one session.
import type { SessionRef } from "@clew/plugin-sdk/core";
import { keyOf } from "../messages/name.ts";
import type { Sql } from "./store.ts";

/** What tells a message from all others of its conversation. */
export interface MessageName {
  /** See `nameOf`. */
  readonly name: string;
  readonly role: string;
  /** When it was made, ms since the epoch; null = not known. */
  readonly time: number | null;
}

/** A transcript and the conversation it tells. */
export interface Place {
  readonly transcript: number;
  readonly conversation: number;
}

/** Undefined as long as nothing of the transcript was stored. */
export function placeOf(sql: Sql, session: SessionRef): Place | undefined {
  const { sessionId, sessionKey } = keysOf(session);
  const row = sql(`
    SELECT id, conversation, session_key FROM transcript
    WHERE session_id = ? AND (session_key = ? OR session_key = '' OR ? = '')
    ORDER BY session_key = ? DESC, id LIMIT 1
  `).get(sessionId, sessionKey, sessionKey, sessionKey);
  if (row === undefined) return undefined;
  // First met in a call that named no key.
  if (sessionKey !== "" && row.session_key === "")
    sql("UPDATE transcript SET session_key = ? WHERE id = ?").run(sessionKey, row.id!);
  return { transcript: Number(row.id), conversation: Number(row.conversation) };
}

/** Messages of each end by which a successor is recognised. */
const SAMPLE = 16;

/**
 * The place of a transcript, made where there is none. A transcript that begins with messages of an
 * earlier one of its session is that one's successor and tells the same conversation; any other
 * begins a new one, however alike they are.
 */
export function makePlace(sql: Sql, session: SessionRef, messages: readonly MessageName[]): Place {
  const known = placeOf(sql, session);
  if (known !== undefined) return known;
  const { sessionId, sessionKey } = keysOf(session);
  const conversation =
    predecessorOf(sql, sessionKey, messages) ??
    Number(sql("INSERT INTO conversation DEFAULT VALUES").run().lastInsertRowid);
  const { lastInsertRowid } = sql(
    "INSERT INTO transcript (session_id, session_key, conversation) VALUES (?, ?, ?)",
  ).run(sessionId, sessionKey, conversation);
  return { transcript: Number(lastInsertRowid), conversation };
}

function predecessorOf(
  sql: Sql,
  sessionKey: string,
  messages: readonly MessageName[],
): number | undefined {
  if (sessionKey === "") return undefined;
  const sample = [...messages.slice(0, SAMPLE), ...messages.slice(SAMPLE).slice(-SAMPLE)];
  for (const { name, role, time } of sample) {
    const row = sql(`
      SELECT message.conversation FROM message
      WHERE message.conversation IN (SELECT conversation FROM transcript WHERE session_key = ?)
        AND message.id = ? AND message.role = ? AND message.time IS ?
      ORDER BY message.conversation DESC LIMIT 1
    `).get(sessionKey, name, role, time);
    if (row !== undefined) return Number(row.conversation);
  }
  return undefined;
}

/** The conversations of the session, newest first: after a reset it has another one. */
export function conversationsOf(sql: Sql, session: SessionRef): number[] {
  const own = placeOf(sql, session)?.conversation;
  const { sessionKey } = keysOf(session);
  const rows =
    sessionKey === ""
      ? []
      : sql(
          "SELECT DISTINCT conversation FROM transcript WHERE session_key = ? ORDER BY 1 DESC",
        ).all(sessionKey);
  const family = rows.map(({ conversation }) => Number(conversation));
  return own === undefined || family.includes(own) ? family : [own, ...family];
}

const keysOf = ({ sessionId, sessionKey = "" }: SessionRef) => ({
  sessionId: keyOf(sessionId),
  sessionKey: keyOf(sessionKey),
});
