// Stores the messages that a host tells of.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { type NamedMessage, named, nameOf } from "../messages/name.ts";
import { isOwn } from "../messages/own.ts";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { NOTHING, newestNames, type Storing, storeMessages } from "../store/messages.ts";
import type { Store } from "../store/store.ts";
import { importFile } from "./import-file.ts";
import { firstNew, firstNewOfBatch, isAnonymous } from "./told-again.ts";

/** New messages of a session. */
export interface Told {
  readonly session: OwnedSession;
  /** Oldest first. */
  readonly messages: readonly AgentMessage[];
  /** Those that came before them, oldest first. Absent: the host did not say. */
  readonly before?: readonly AgentMessage[] | undefined;
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
    if (reason === undefined) return { ...NOTHING, added: imported };
  }
  const fresh = await firstFresh(store, { ...told, messages });
  return patiently(() =>
    storeMessages(store, {
      session,
      messages: messages.flatMap((message, index): NamedMessage[] => {
        const isNew = isAnonymous(message);
        if (isNew && index < fresh) return [];
        return [{ ...named(message), isNew, ...(isHeartbeat && { isHeartbeat }) }];
      }),
      from: "told",
      advancementKey,
    }),
  );
}

/** Index of the first message that was not told before, as far as its words alone tell it. */
async function firstFresh(
  store: Store,
  { session, messages, before, advancementKey }: Told,
): Promise<number> {
  // A turn of a new key is told for the first time.
  if (advancementKey !== undefined || !messages.some(isAnonymous)) return 0;
  const earlier = (before ?? []).filter((message) => !isOwn(message));
  const count = earlier.length + messages.length;
  const stored = await patiently(() => newestNames(store, session, count + 1));
  if (before === undefined) return firstNewOfBatch(messages, stored);
  const given = [...earlier, ...messages].map(nameOf);
  return firstNew({ given, from: earlier.length, stored }) - earlier.length;
}
