// Builds messages with ids, and a database to store them in.
import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { onTestFinished } from "vitest";
import { type NamedMessage, named, withName } from "../messages/name.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { messagesBehind } from "../store/messages.ts";
import { type Store, useStore } from "../store/store.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** An open database that is closed when the test is over. */
export function temporaryStore(file = join(temporaryFolder(), "lossless.db")): Store {
  const { store, release } = useStore(file);
  onTestFinished(release);
  return store;
}

/** As a host hands them over: with the ids of their entries, `prefix` and their place. */
export const withIds = (messages: readonly AgentMessage[], prefix = "e"): AgentMessage[] =>
  messages.map((message, index) => withMessageId(message, `${prefix}${index}`));

export const namedWithIds = (messages: readonly AgentMessage[], prefix?: string): NamedMessage[] =>
  withIds(messages, prefix).map(named);

/** All that is stored of a transcript's conversation, in the order in which it came. */
export const conversationMessages = (store: Store, session: OwnedSession): AgentMessage[] =>
  messagesBehind(store, { session, after: 0, limit: Number.MAX_SAFE_INTEGER }).map(withName);
