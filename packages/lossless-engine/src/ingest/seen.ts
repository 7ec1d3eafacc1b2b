// Stores what a view shows and nobody told of, such as notes.
import { type AgentMessage, messageId, type SessionRef } from "@clew/plugin-sdk/core";
import { named } from "../messages/name.ts";
import { isOwn } from "../messages/own.ts";
import { patiently } from "../patiently.ts";
import { knownNames, storeMessages } from "../store/messages.ts";
import type { Store } from "../store/store.ts";

/** Messages that are looked up, and stored, at once. */
const BATCH = 32;

/**
 * From the newest message back to the first that is known. Messages without ids are left to the
 * calls that tell of them: in a view nothing says which is which.
 */
export async function storeSeen(
  store: Store,
  { session, messages }: { session: SessionRef; messages: readonly AgentMessage[] },
): Promise<void> {
  const unknown: AgentMessage[] = [];
  for (let end = messages.length; end > 0; end -= BATCH) {
    const batch = messages
      .slice(Math.max(0, end - BATCH), end)
      .filter((message) => messageId(message) !== undefined && !isOwn(message));
    if (batch.length === 0) break;
    const names = batch.map((message) => messageId(message)!);
    const known = await patiently(() => knownNames(store, session, names));
    const newest = names.findLastIndex((name) => known.has(name));
    unknown.unshift(...batch.slice(newest + 1));
    if (newest >= 0) break;
  }
  for (let at = 0; at < unknown.length; at += BATCH) {
    const seen = unknown.slice(at, at + BATCH).map(named);
    await patiently(() => storeMessages(store, { session, messages: seen, from: "seen" }));
  }
}
