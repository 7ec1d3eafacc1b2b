// Tells what sessions hold, without reading from a file what is in memory.
import type { Conversations } from "../sessions/conversations.ts";
import type { ReadSession, SessionPage, SessionStore } from "../sessions/store.ts";

export type KnownSession = Omit<ReadSession, "header">;

/** Sessions as they are now, open or not; keys are canonical. */
export interface KnownSessions {
  /** Null when there is none. */
  read(key: string): Promise<KnownSession | null>;
  /** At most `limit` of its newest entries; null when there is none. */
  newest(key: string, limit: number): Promise<SessionPage | null>;
}

export function knownSessions(
  store: SessionStore,
  { peek }: Pick<Conversations, "peek">,
): KnownSessions {
  /** Whoever has it open here holds its lock: its file says the same. */
  const opened = async (key: string) => {
    const session = peek(key);
    if (session === undefined || !session.exists()) return undefined;
    const found = await store.find(key);
    return found?.sessionId === session.session.sessionId
      ? { ...found, branch: session.branch() }
      : undefined;
  };
  return {
    read: async (key) => (await opened(key)) ?? store.read(key),
    async newest(key, limit) {
      const page = await store.newest(key, limit);
      if (page === null || page.totalEntries !== null) return page;
      return { ...page, totalEntries: (await opened(key))?.branch.length ?? null };
    },
  };
}
