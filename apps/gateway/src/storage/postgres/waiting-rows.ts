// Keeps messages that wait in PostgreSQL, for whichever gateway has their session.
import type { DeliveryLedger } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { InboxMessage, PostgresStore } from "@clew/store-postgres";
import { fromJson, toJson } from "../../own-json.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { createKeyedQueue } from "../../sessions/queues.ts";
import { requireSame } from "../../waiting/same-message.ts";
import { type WaitingMessage, WaitingMessageSchema } from "../../waiting/waiting-message.ts";
import type { CutTurn, SharedWaiting, WaitingStore } from "../../waiting/waiting-store.ts";

export type WaitingRows = WaitingStore & { readonly shared: SharedWaiting };

export interface WaitingRowsOptions {
  store: Pick<
    PostgresStore<DeliveryLedger>,
    "keep" | "drop" | "takeBack" | "waiting" | "left" | "sweep"
  >;
  everyMs: number;
}

/** Sessions that are taken over at a time. */
const AT_ONCE = 20;

export function createWaitingRows({ store, everyMs }: WaitingRowsOptions): WaitingRows {
  /** Names of messages that this gateway looks after, by session. */
  const held = new Map<string, Set<string>>();
  const { enqueue } = createKeyedQueue();
  const heldIn = (key: string): ReadonlySet<string> => held.get(key) ?? new Set();
  const hold = (key: string, names: readonly string[]) => {
    if (names.length > 0) held.set(key, new Set([...heldIn(key), ...names]));
  };
  const letGo = (key: string, names: readonly string[]) => {
    const left = held.get(key);
    for (const name of names) left?.delete(name);
    if (left?.size === 0) held.delete(key);
  };
  const read = async (key: string) => (await store.waiting(nameOf(key))).flatMap(messageOf);

  return {
    save: (key, now) =>
      enqueue(key, async () => {
        const messages = now();
        const before = heldIn(key);
        const fresh = messages.filter(({ idempotencyKey }) => !before.has(idempotencyKey));
        const names = new Set(messages.map(({ idempotencyKey }) => idempotencyKey));
        const gone = [...before].filter((name) => !names.has(name));
        for (const message of fresh) {
          const [kept] = messageOf(await store.keep(nameOf(key), rowOf(message)));
          // Another gateway may have kept it meanwhile.
          if (kept !== undefined) requireSame(key, { sent: message.content, before: kept.content });
          hold(key, [message.idempotencyKey]);
        }
        if (gone.length === 0) return;
        await store.drop(nameOf(key), gone);
        letGo(key, gone);
      }),
    read,
    // A start finds out by `due` which sessions are its own.
    all: async () => [],
    tidy: async () => {},
    shared: {
      everyMs,
      async left(key) {
        const { messages, openTurn } = await store.left(nameOf(key));
        return { messages: messages.flatMap(messageOf), cut: openTurn && cutTurn(openTurn) };
      },
      hold,
      letGo: (key, names) => (names === undefined ? void held.delete(key) : letGo(key, names)),
      holds: (key, name) => heldIn(key).has(name),
      async waits(key, name) {
        return (await store.waiting(nameOf(key))).some((row) => row.name === name);
      },
      async keep(key, message) {
        const [kept] = messageOf(await store.keep(nameOf(key), rowOf(message)));
        return kept ?? message;
      },
      // A text with NUL is nobody's id, and none that a database takes.
      takeBack: async (key, id) => (id?.includes("\0") ? 0 : store.takeBack(nameOf(key), id)),
      async due(known) {
        const { sessions, messages } = await store.sweep({ limit: AT_ONCE, known });
        const keys = new Set(sessions.map(({ key }) => key));
        for (const { key, name } of messages) if (!heldIn(key).has(name)) keys.add(key);
        return { keys: [...keys], isMore: sessions.length === AT_ONCE };
      },
    },
  };
}

const nameOf = (text: string) => {
  const { agentId, key } = requireSessionName(text);
  return { agentId, key };
};

const rowOf = (message: WaitingMessage): InboxMessage => ({
  ...{ name: message.idempotencyKey, id: message.id, body: toJson(message) },
});

/** None: another version of the gateway kept it, and says it. It is known by its row's name. */
function messageOf({ body, name: idempotencyKey }: InboxMessage): [WaitingMessage] | [] {
  const parsed = WaitingMessageSchema.safeParse(fromJson(body));
  return parsed.success ? [{ ...(parsed.data as WaitingMessage), idempotencyKey }] : [];
}

function cutTurn({ entryId, body }: { entryId: string; body: string }): CutTurn | null {
  const entry = fromJson(body) as TranscriptEntry;
  return entry.type === "message" && entry.message.role === "user"
    ? { entryId, prompt: entry.message }
    : null;
}
