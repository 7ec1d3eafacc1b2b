// Reads the newest messages of a session as people see them, the method `sessions.get`.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { KnownSessions } from "./known-sessions.ts";

/**
 * At most `limit`, oldest first; null when there is no such session. Other entries than messages
 * count for nothing.
 */
export async function newestMessages(
  known: Pick<KnownSessions, "newest">,
  key: string,
  limit: number,
): Promise<AgentMessage[] | null> {
  for (let entries = limit; ; entries *= 2) {
    const page = await known.newest(key, entries);
    if (page === null) return null;
    const messages = page.entries.flatMap((entry) =>
      entry.type === "message" ? [entry.message] : [],
    );
    if (messages.length >= limit || page.entries.length < entries) return messages.slice(-limit);
  }
}
