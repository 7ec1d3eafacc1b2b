// Which store a session's recall reads, and which conversations in it.
import type { SessionRef } from "@clew/plugin-sdk/core";
import { type Scope, sessionConversations } from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import type { Stores } from "../stores.ts";

/** The stores of the sessions that an engine of this process has met, the newest of them. */
export interface Reach {
  /** The same stores; the sessions for which they are asked are met. */
  watching(stores: Stores): Stores;
  /** Undefined: no engine met it, or it is ignored. */
  storeOf(session: Partial<SessionRef>): Store | undefined;
}

const MOST_SESSIONS = 1_000;

export function createReach(): Reach {
  const known = new Map<string, { session: SessionRef; stores: Stores }>();
  const met = (session: SessionRef, stores: Stores) => {
    const key = session.sessionKey ?? session.sessionId;
    known.delete(key);
    known.set(key, { session, stores });
    if (known.size > MOST_SESSIONS) known.delete(known.keys().next().value!);
  };
  return {
    watching: (stores) => ({
      of(session) {
        met(session, stores);
        return stores.of(session);
      },
      ofAgent: stores.ofAgent,
      release: stores.release,
    }),
    storeOf({ sessionId = "", sessionKey = "" }) {
      const found = known.get(sessionKey) ?? known.get(sessionId);
      return found?.stores.of(found.session) ?? undefined;
    },
  };
}

/** Whom a recall asks about. */
export interface Asked {
  readonly conversationId?: number | undefined;
  readonly allConversations?: boolean | undefined;
}

/** The session's own conversations, one that is named, or all of the database. */
export function scopeOf(store: Store, session: SessionRef, asked: Asked): Scope {
  if (asked.allConversations === true) return null;
  return asked.conversationId === undefined
    ? sessionConversations(store, session)
    : [asked.conversationId];
}
