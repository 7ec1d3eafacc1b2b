// Stores the messages that a host tells of.
import { type AgentMessage, messageId, type SessionRef } from "@clew/plugin-sdk/core";
import { named } from "../messages/name.ts";
import { isOwn } from "../messages/own.ts";
import { patiently } from "../patiently.ts";
import { type Storing, storeMessages } from "../store/messages.ts";
import type { Store } from "../store/store.ts";
import { importFile } from "./import-file.ts";

/** New messages of a session. */
export interface Told {
  readonly session: SessionRef;
  /** Oldest first. */
  readonly messages: readonly AgentMessage[];
  /** True: said in a run that the host began by itself. Absent: false. */
  readonly isHeartbeat?: boolean | undefined;
  /** Their session file, which holds them already. Absent: the host keeps none, or did not say. */
  readonly sessionFile?: string | undefined;
  /** The durable turn they are. Absent: none. */
  readonly advancementKey?: string | undefined;
}

/**
 * In one transaction. Messages of a host that gives them no ids have some in their session file:
 * there they are read.
 */
export async function storeTold(store: Store, told: Told): Promise<Storing> {
  const { session, isHeartbeat = false, sessionFile, advancementKey } = told;
  const messages = told.messages.filter((message) => !isOwn(message));
  if (sessionFile !== undefined && messages.some((message) => messageId(message) === undefined)) {
    const { imported, reason } = await importFile(store, { session, path: sessionFile });
    if (reason === undefined) return { added: imported, isDuplicate: false };
  }
  return patiently(() =>
    storeMessages(store, {
      session,
      messages: messages.map((message) => ({
        ...named(message),
        ...(isHeartbeat && { isHeartbeat }),
      })),
      from: "told",
      advancementKey,
    }),
  );
}
