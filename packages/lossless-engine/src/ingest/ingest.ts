// Stores the messages that a host tells of.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { beginningOf, type NamedMessage, named, nameOf } from "../messages/name.ts";
import { isOwn } from "../messages/own.ts";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import {
  NOTHING,
  newestMessages,
  newestNames,
  type Storing,
  storeMessages,
} from "../store/messages.ts";
import { roomFor } from "../store/room.ts";
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
 * there they are read, and what the file does not hold yet is stored as it was told.
 */
export async function storeTold(store: Store, told: Told): Promise<Storing> {
  const { session, sessionFile } = told;
  const messages = told.messages.filter((message) => !isOwn(message));
  if (sessionFile !== undefined && messages.some((message) => messageId(message) === undefined)) {
    const { imported, reason } = await importFile(store, { session, path: sessionFile });
    if (reason === undefined) {
      const isRead = imported >= messages.length && (await endsWith(store, session, messages));
      if (isRead) return { ...NOTHING, added: imported };
      const fresh = await firstNotRead(store, { ...told, messages });
      const stored = await storeFrom(store, { ...told, messages }, fresh);
      return { ...stored, added: stored.added + imported };
    }
  }
  return storeFrom(store, { ...told, messages }, await firstFresh(store, { ...told, messages }));
}

/** `fresh`: index of the first message that was not told before, as far as its words tell it. */
async function storeFrom(
  store: Store,
  { session, messages, isHeartbeat = false, advancementKey }: Told,
  fresh: number,
): Promise<Storing> {
  await roomFor(store, messages.length);
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

/** True: what was read last are these messages; some of them a host may have written otherwise. */
async function endsWith(
  store: Store,
  session: OwnedSession,
  messages: readonly AgentMessage[],
): Promise<boolean> {
  const newest = await patiently(() => newestMessages(store, session, messages.length));
  const isSame = (one: AgentMessage, other: AgentMessage) =>
    one.timestamp === other.timestamp && beginningOf(one) === beginningOf(other);
  return (
    newest.length === messages.length &&
    messages.every(({ role }, at) => role === newest[at]!.role) &&
    messages.some((message, at) => isSame(message, newest[at]!))
  );
}

/** Messages before the told ones by which their place in the store is found. */
const MOST_BEFORE = 16;

/** The same after their session file was read, where everything has an id. */
async function firstNotRead(
  store: Store,
  { session, messages, before = [] }: Told,
): Promise<number> {
  if (!messages.some(isAnonymous)) return 0;
  const earlier = before.filter((message) => !isOwn(message)).slice(-MOST_BEFORE);
  const given = [...earlier, ...messages].map(likenessOf);
  const newest = await patiently(() => newestMessages(store, session, given.length + 1));
  const stored = newest.map(likenessOf);
  return firstNew({ given, from: earlier.length, stored }) - earlier.length;
}

const likenessOf = (message: AgentMessage) => `${message.role} ${beginningOf(message)}`;
