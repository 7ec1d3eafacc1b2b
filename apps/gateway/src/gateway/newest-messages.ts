// Reads the newest messages of a session, and which of its turns is the newest.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { newestPrompt } from "../sessions/newest-prompt.ts";
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

/** Whether the turn that a message of a person began is the newest of its session. */
export async function placeOfPrompt(
  known: Pick<KnownSessions, "newest" | "read">,
  key: string,
  entryId: string,
): Promise<"newest" | "earlier" | "nowhere"> {
  for (let entries = 16; ; entries *= 4) {
    const page = await known.newest(key, entries);
    if (page === null) return "nowhere";
    const newest = newestPrompt(page.entries);
    if (newest?.id === entryId) return "newest";
    if (newest !== undefined || page.entries.length < entries) break;
  }
  const whole = await known.read(key);
  return whole?.branch.some(({ id }) => id === entryId) ? "earlier" : "nowhere";
}
