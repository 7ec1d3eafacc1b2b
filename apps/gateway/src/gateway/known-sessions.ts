// Tells what sessions hold, without reading from a file what is in memory.
import type { Conversations } from "../sessions/conversations.ts";
import type { SessionSummary } from "../sessions/list-sessions.ts";
import type { ReadSession, SessionPage, SessionStore } from "../sessions/store.ts";

export type KnownSession = Omit<ReadSession, "header">;

/** Sessions as they are now, open or not; keys are canonical. */
export interface KnownSessions {
  /** Null when there is none. */
  read(key: string): Promise<KnownSession | null>;
  /** What `read` tells of it without reading a transcript; null when there is none. */
  find(key: string): Promise<SessionSummary | null>;
  /**
   * Reads sessions as `read` does, and remembers them: the same one again while its file stays as
   * it is.
   */
  remembering(): (key: string) => Promise<KnownSession | null>;
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
    find: store.find,
    remembering() {
      let last: KnownSession | undefined;
      return async (key) => {
        const open = await opened(key);
        if (open !== undefined) return open;
        const found = await store.find(key);
        if (found === null || (last !== undefined && isSameFile(found, last)))
          return found && last!;
        const read = await store.read(key);
        last = read ?? undefined;
        return read;
      };
    },
    read: async (key) => (await opened(key)) ?? store.read(key),
    async newest(key, limit) {
      const page = await store.newest(key, limit);
      if (page === null || page.totalEntries !== null) return page;
      return { ...page, totalEntries: (await opened(key))?.branch.length ?? null };
    },
  };
}

const isSameFile = (one: SessionSummary, other: SessionSummary): boolean =>
  one.file === other.file && one.bytes === other.bytes && one.updatedAt === other.updatedAt;
