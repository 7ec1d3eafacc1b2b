// Lists the conversations of a database with the transcripts that tell them.
import { keyOf } from "../messages/name.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { namedBy, placeOf } from "./conversations.ts";
import { FLAGS, messageOf, type StoredMessage } from "./rows.ts";
import { sealing } from "./seals.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Sql, Store } from "./store.ts";

/** A transcript of a conversation, as the database names it. */
export interface TranscriptName {
  readonly sessionId: string;
  /** "": its host names none. */
  readonly sessionKey: string;
  /** Null: it was stored before owners were noted. */
  readonly owner: string | null;
}

/** A history, and the transcripts that it moved through, the first one first. */
export interface ToldConversation {
  readonly conversation: number;
  readonly messages: number;
  readonly transcripts: readonly TranscriptName[];
}

/** In the order in which they began; without those of which nothing is stored. */
export const conversationsIn = (snapshot: Pick<Snapshot, "read">): readonly ToldConversation[] =>
  snapshot.read((sql) => {
    const transcripts = new Map<number, TranscriptName[]>();
    for (const row of sql("SELECT * FROM transcript ORDER BY id").all()) {
      const conversation = Number(row.conversation);
      const owner = row.owner === null ? null : String(row.owner);
      const name = {
        sessionId: String(row.session_id),
        sessionKey: String(row.session_key),
        owner,
      };
      transcripts.set(conversation, [...(transcripts.get(conversation) ?? []), name]);
    }
    return sql("SELECT id, messages FROM conversation WHERE messages > 0 ORDER BY id")
      .all()
      .map(({ id, messages }) => ({
        ...{ conversation: Number(id), messages: Number(messages) },
        transcripts: transcripts.get(Number(id)) ?? [],
      }));
  });

/** Messages of a conversation behind number `after`, in the order in which they came. */
export const messagesOf = (
  snapshot: Pick<Snapshot, "read">,
  { conversation, after, limit }: { conversation: number; after: number; limit: number },
): (StoredMessage & { readonly isSeen: boolean })[] =>
  snapshot.read((sql) =>
    sql("SELECT * FROM message WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?")
      .all(conversation, after, limit)
      .map((row) => ({ ...messageOf(sql, row), isSeen: (Number(row.flags) & FLAGS.seen) !== 0 })),
  );

/** Further transcripts of the session's conversation, in this order; known ones stay. */
export const addTranscripts = (
  store: Store,
  session: OwnedSession,
  further: readonly Omit<TranscriptName, "owner">[],
): void =>
  store.change((sql: Sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return;
    const { owner = "" } = session;
    const add = sql(`
      INSERT OR IGNORE INTO transcript (session_id, session_key, owner, conversation)
      VALUES (?, ?, ?, ?)
    `);
    for (const { sessionId, sessionKey } of further) {
      const names = [keyOf(sessionId), keyOf(sessionKey), keyOf(owner)] as const;
      sealing(sql, namedBy(...names), () => add.run(...names, place.conversation));
    }
  });
