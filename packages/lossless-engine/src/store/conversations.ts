// Which conversation a transcript tells, and which ones belong to one session.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { beginningOf, keyOf, type NamedMessage, nameOf } from "../messages/name.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { nextNumber } from "./numbers.ts";
import { messageOf, timeOf } from "./rows.ts";
import { sealing } from "./seals.ts";
import type { Sql, Store } from "./store.ts";
import { numberOrNull } from "./summary-rows.ts";

/** A transcript and the conversation it tells. */
export interface Place {
  readonly transcript: number;
  readonly conversation: number;
}

/** Undefined as long as nothing of the transcript was stored. */
export const placeOf = (sql: Sql, session: OwnedSession): Place | undefined =>
  find(sql, session)?.place;

/** The names under which the transcript is stored, but for odd ones that are escaped. */
export const storedKeys = (sql: Sql, session: OwnedSession): string[] => {
  const { sessionId, owner } = keysOf(session);
  return sql(`
    SELECT session_key FROM transcript
    WHERE session_id = ? AND (owner = ? OR owner IS NULL) ORDER BY owner IS NULL, id
  `)
    .all(sessionId, owner)
    .map(({ session_key }) => String(session_key))
    .filter((key) => keyOf(key) === key);
};

function find(
  sql: Sql,
  session: OwnedSession,
): { place: Place; isUnnamed: boolean; isUnclaimed: boolean } | undefined {
  const { sessionId, sessionKey, owner } = keysOf(session);
  const row = sql(`
    SELECT id, conversation, session_key, owner FROM transcript
    WHERE session_id = ?1 AND (session_key = ?2 OR session_key = '' OR ?2 = '')
      AND (owner = ?3 OR owner IS NULL)
    ORDER BY owner IS NULL, id LIMIT 1
  `).get(sessionId, sessionKey, owner);
  if (row === undefined) return undefined;
  const place = { transcript: Number(row.id), conversation: Number(row.conversation) };
  const isUnnamed = sessionKey !== "" && row.session_key === "";
  return { place, isUnnamed, isUnclaimed: row.owner === null };
}

/** What was stored before owners were noted is of whoever goes on with it first. */
function claim(sql: Sql, session: OwnedSession): void {
  const { sessionId, sessionKey, owner } = keysOf(session);
  sealing(sql, { table: "transcript", where: "owner IS NULL", values: [] }, () =>
    sql(`
      UPDATE OR IGNORE transcript SET owner = ?3 WHERE owner IS NULL AND
        (session_id = ?1 AND (session_key = '' OR ?2 = '') OR session_key = ?2 AND ?2 != '')
    `).run(sessionId, sessionKey, owner),
  );
}

/** Messages of each end by which a successor is recognised. */
const SAMPLE = 16;

/**
 * The place of a transcript, made where there is none. A transcript that begins with messages of an
 * earlier one of its session is that one's successor and tells the same conversation, as does one
 * that its host calls by another key; any other begins a new one, however alike they are.
 */
export function makePlace(
  sql: Sql,
  session: OwnedSession,
  messages: readonly NamedMessage[],
): Place {
  const known = find(sql, session);
  const { sessionId, sessionKey, owner } = keysOf(session);
  if (known?.isUnclaimed !== false) claim(sql, session);
  // First met in a call that named no key.
  if (known?.isUnnamed)
    sealing(sql, transcriptOf(known.place.transcript), () =>
      sql("UPDATE transcript SET session_key = ? WHERE id = ?").run(
        ...[sessionKey, known.place.transcript],
      ),
    );
  if (known !== undefined) return known.place;
  const conversation =
    predecessorOf(sql, session, messages) ??
    Number(
      sql("INSERT INTO conversation (id) VALUES (?)").run(nextNumber(sql, "conversation"))
        .lastInsertRowid,
    );
  const { lastInsertRowid } = sealing(sql, namedBy(sessionId, sessionKey, owner), () =>
    sql(
      "INSERT INTO transcript (session_id, session_key, owner, conversation) VALUES (?, ?, ?, ?)",
    ).run(sessionId, sessionKey, owner, conversation),
  );
  return { transcript: Number(lastInsertRowid), conversation };
}

/** One transcript, to be sealed. */
export const transcriptOf = (id: number) =>
  ({ table: "transcript", where: "id = ?", values: [id] }) as const;

/** The same by its names. */
export const namedBy = (sessionId: string, sessionKey: string, owner: string) =>
  ({
    table: "transcript",
    where: "session_id = ? AND session_key = ? AND owner = ?",
    values: [sessionId, sessionKey, owner],
  }) as const;

function predecessorOf(
  sql: Sql,
  session: OwnedSession,
  messages: readonly NamedMessage[],
): number | undefined {
  const { sessionId, sessionKey, owner } = keysOf(session);
  if (sessionKey === "") return undefined;
  const sample = [...messages.slice(0, SAMPLE), ...messages.slice(SAMPLE).slice(-SAMPLE)];
  const find = sql(`
    SELECT * FROM message
    WHERE conversation IN (
        SELECT conversation FROM transcript WHERE (session_key = ? OR session_id = ?) AND owner = ?
      )
      AND id = ?
    ORDER BY conversation DESC
  `);
  // Copies that hosts shorten begin alike.
  const alike: number[] = [];
  const others = new Set<number>();
  for (const { name, message } of sample) {
    const time = timeOf(message);
    for (const row of find.all(sessionKey, sessionId, owner, name)) {
      const conversation = Number(row.conversation);
      const isSame =
        row.role === message.role &&
        numberOrNull(row.time) === time &&
        beginningOf(messageOf(sql, row).message) === beginningOf(message);
      if (isSame && time !== null) return conversation;
      if (isSame) alike.push(conversation);
      else others.add(conversation);
    }
  }
  // Hosts that count anew in each transcript repeat ids; "Done." without a time is said in many.
  return alike.find((conversation) => !others.has(conversation));
}

/** The conversations of the session, newest first: after a reset it has another one. */
export function conversationsOf(sql: Sql, session: OwnedSession): number[] {
  const own = placeOf(sql, session)?.conversation;
  const { sessionKey, owner } = keysOf(session);
  const rows =
    sessionKey === ""
      ? []
      : sql(`
          SELECT DISTINCT conversation FROM transcript
          WHERE session_key = ? AND (owner = ? OR owner IS NULL) ORDER BY 1 DESC
        `).all(sessionKey, owner);
  const family = rows.map(({ conversation }) => Number(conversation));
  return own === undefined || family.includes(own) ? family : [own, ...family];
}

/** Of a history, to find where it begins in the conversation. */
const BEGINNING = 8;

/** True: something was said in the session before these messages, in whichever transcript. */
export const hasEarlier = (
  store: Store,
  session: OwnedSession,
  messages: readonly AgentMessage[],
): boolean =>
  store.read((sql) => {
    const own = placeOf(sql, session)?.conversation;
    const said = sql("SELECT min(seq) AS first FROM message WHERE conversation = ?");
    const firstOf = (conversation: number) => said.get(conversation)?.first ?? null;
    const others = conversationsOf(sql, session).filter((one) => one !== own);
    if (others.some((other) => firstOf(other) !== null)) return true;
    if (own === undefined) return false;
    const found = messages.slice(0, BEGINNING).flatMap((message) => {
      const row = sql("SELECT seq FROM message WHERE conversation = ? AND id = ?").get(
        own,
        keyOf(nameOf(message)),
      );
      return row === undefined ? [] : [Number(row.seq)];
    });
    return found.length > 0 && Number(firstOf(own)) < Math.min(...found);
  });

const keysOf = ({ sessionId, sessionKey = "", owner = "" }: OwnedSession) => ({
  sessionId: keyOf(sessionId),
  sessionKey: keyOf(sessionKey),
  owner: keyOf(owner),
});
