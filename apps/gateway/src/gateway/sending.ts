// Takes in what people say in sessions, and looks after what waits there.
import { randomUUID } from "node:crypto";
import type { LogPort, TurnResult } from "@clew/engine-core";
import { type AssistantMessage, ContextEngineError } from "@clew/plugin-sdk/core";
import { blocksOf, roleIn, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { WhenBusy } from "../config/when-busy.ts";
import { requireMessageFits } from "../limits/message.ts";
import { isInForce, type LockOwner, readOwner } from "../locks/lock.ts";
import { mendAfterFailure } from "../plugins/contain/shared-watch.ts";
import type { Conversations } from "../sessions/conversations.ts";
import type { SessionStore } from "../sessions/store.ts";
import { createInbox, type Inbox, type InboxOptions, type SaidEntry } from "../waiting/inbox.ts";
import { type Taken, takenAsSaid } from "../waiting/item.ts";
import { createLookout } from "../waiting/lookout.ts";
import { planArrival } from "../waiting/plan-arrival.ts";
import { alreadySaid, sessionFull } from "../waiting/refusals.ts";
import { requireSame } from "../waiting/same-message.ts";
import type { SendRequest } from "../waiting/send-request.ts";
import { MessageTakenBack } from "../waiting/taken-back.ts";
import { createWaitingFiles } from "../waiting/waiting-files.ts";
import {
  bytesOfMessage,
  viewOf,
  type WaitingMessage,
  type WaitingView,
} from "../waiting/waiting-message.ts";
import type { WaitingStore } from "../waiting/waiting-store.ts";
import { entrySaying } from "./turns.ts";
import type { UnstoredTurns } from "./unstored-turns.ts";

/** Of one session each; keys may be short names. */
export interface WaitingMessages {
  /** In order. */
  list(key: string): Promise<WaitingView[]>;
  /** False: it does not wait, or not any more. */
  takeBack(key: string, id: string): Promise<boolean>;
  /** How many were taken back. */
  clear(key: string): Promise<number>;
  /**
   * Takes in what waited when a process ended, in all sessions; how many messages. To be called
   * before anybody can send one.
   */
  takeIn(): Promise<number>;
  /**
   * Lets what waited have its turn. `key`: of this session, of which it is taken in now, unless
   * another process has it; how many messages. Absent: all that was taken in.
   */
  resume(key?: string): Promise<number>;
}

/** A message that is kept for whichever gateway has its session. */
export interface KeptElsewhere extends Pick<SendRequest, "key" | "onEvent"> {
  /** What it was sent under. */
  name: string;
}

/** A message that is stored. */
export interface SaidBefore {
  entryId: string;
  /** The reply that ended its turn. Null: none did, as far as is known. */
  reply: { entryId: string; message: AssistantMessage } | null;
}

export interface Sending {
  offer(request: SendRequest): Promise<Taken>;
  /**
   * Keeps a message for the gateway that has its session, as that does not answer; durable when it
   * resolves. Throws BACKLOG_FULL, STORAGE_FAILED, IDEMPOTENCY_KEY_REUSED, and SESSION_LOCKED where
   * no other gateway is.
   */
  keep(request: SendRequest & { idempotencyKey: string }): Promise<WaitingView>;
  /** Takes part in what becomes of it, now that this gateway has the session. */
  rejoin(kept: KeptElsewhere): Promise<Taken>;
  /** What is stored of a message and its reply. Null: nobody knows it, as far as is known. */
  saidIn(key: string, name: string): Promise<SaidBefore | null>;
  /** It is kept for whoever has its session. */
  isKept(key: string, name: string): Promise<boolean>;
  send(request: SendRequest): Promise<TurnResult>;
  readonly waiting: WaitingMessages;
  /** As of the inbox. By canonical key. */
  cancel: Inbox["cancel"];
  asking: Inbox["asking"];
  /** Messages that wait. */
  backlog(): number;
  /** Nothing that waits begins any more. */
  close(): void;
}

export interface SendingOptions
  extends Pick<InboxOptions, "run" | "told" | "tell" | "line" | "gate" | "backlogElsewhere"> {
  home: string;
  /** Where messages wait. Undefined: in files of the home. */
  waiting: WaitingStore | undefined;
  log: LogPort;
  limits: InboxOptions["limits"] & { messageBytes: number };
  /** Of messages that do not say it. */
  whenBusy: WhenBusy;
  store: Pick<SessionStore, "find" | "read">;
  conversations: Pick<Conversations, "busy" | "peek">;
  unstored: Pick<UnstoredTurns, "has">;
  canonicalKey(text: string): string;
}

export function createSending({
  home,
  waiting: kept = undefined,
  log,
  limits,
  whenBusy,
  store,
  conversations,
  unstored,
  canonicalKey,
  ...given
}: SendingOptions): Sending {
  const waitingStore = kept ?? createWaitingFiles({ home, log });
  const { shared } = waitingStore;
  const inbox = createInbox({
    ...{ ...given, log, limits, store: waitingStore, whenBusy },
    onFailure: () => void mendAfterFailure(),
    isBusyElsewhere: (key) => conversations.busy().has(key),
    isOpen: (key) => conversations.peek(key) !== undefined,
    entrySaying(key, name) {
      const open = conversations.peek(key);
      const said = open && entrySaying(open, name);
      // At its turn it is seen what becomes of it.
      return said !== undefined && unstored.has(key, said.entryId) ? undefined : said;
    },
  });
  const storedEntry = async (key: string, name: string): Promise<SaidEntry | undefined> => {
    const read = await store.read(key);
    return read === null ? undefined : entrySaying({ branch: () => read.branch }, name);
  };
  const offer: Sending["offer"] = async (request) => {
    requireMessageFits(request.content, limits.messageBytes);
    return inbox.offer({ ...request, key: canonicalKey(request.key) });
  };
  const lookout =
    shared &&
    createLookout({
      ...{ shared, log, known: inbox.keys },
      async takeIn(key) {
        const count = await inbox.takeIn(key);
        inbox.resume();
        return count;
      },
    });
  /** Also of those that wait at other gateways. */
  const list = async (key: string): Promise<WaitingView[]> => {
    const here = inbox.list(key);
    if (shared === undefined) return here;
    const shown = new Set(here.map(({ id }) => id));
    const elsewhere = (await waitingStore.read(key)).filter(({ id }) => !shown.has(id));
    return [...elsewhere.map((message) => viewOf(message)), ...here];
  };
  return {
    ...{ cancel: inbox.cancel, asking: inbox.asking, backlog: inbox.backlog, offer },
    close() {
      lookout?.stop();
      inbox.close();
    },
    async send(request) {
      const sent = await (await offer(request)).result;
      if (sent.outcome === "known") throw alreadySaid(request.key);
      return sent;
    },
    async keep(request) {
      requireMessageFits(request.content, limits.messageBytes);
      const key = canonicalKey(request.key);
      if (shared === undefined) throw heldElsewhere(key);
      const before = await waitingStore.read(key);
      const message = messageOf(request, { whenBusy });
      const known = before.find(({ idempotencyKey }) => idempotencyKey === message.idempotencyKey);
      const { kind, content: sent, idempotencyKey: name } = request;
      const requireSent = ({ content: before }: { content: SendRequest["content"] }) => {
        if (kind === undefined) requireSame(key, { sent, before });
      };
      if (known !== undefined) {
        requireSent(known);
        return viewOf(known);
      }
      const said = kind === undefined ? await storedEntry(key, name) : undefined;
      if (said !== undefined) requireSent(said);
      // A job has bounds of its own, and waits for as long as it takes.
      if (kind === undefined) requirePlace(key, { message, before, limits });
      const kept = await shared.keep(key, message);
      requireSent(kept);
      return viewOf(kept);
    },
    async rejoin({ key: text, name, onEvent }) {
      const key = canonicalKey(text);
      const joined = await inbox.rejoin({ key, name, onEvent });
      if (joined !== null) return joined;
      const said = await storedEntry(key, name);
      if (said === undefined) throw new MessageTakenBack();
      return takenAsSaid(said.entryId);
    },
    async saidIn(text, name) {
      const key = canonicalKey(text);
      const branch = (await store.read(key))?.branch ?? [];
      const said = entrySaying({ branch: () => branch }, name);
      if (said === undefined) return null;
      return { entryId: said.entryId, reply: replyTo(branch, said.entryId) };
    },
    isKept: async (text, name) => (await shared?.waits(canonicalKey(text), name)) ?? false,
    waiting: {
      list: (text) => list(canonicalKey(text)),
      async takeBack(text, id) {
        const key = canonicalKey(text);
        return (await inbox.takeBack(key, id)) || ((await shared?.takeBack(key, id)) ?? 0) > 0;
      },
      async clear(text) {
        const key = canonicalKey(text);
        return (await inbox.clear(key)) + ((await shared?.takeBack(key, null)) ?? 0);
      },
      takeIn: () => inbox.takeIn(),
      async resume(text) {
        const key = text === undefined ? undefined : canonicalKey(text);
        if (key === undefined) lookout?.start();
        // Whoever has it open has what waits in it.
        const isHere = key !== undefined && (await ownerElsewhere(store, key)) === null;
        const count = isHere ? await inbox.takeIn(key) : 0;
        inbox.resume();
        return count;
      },
    },
  };
}

/** Pure. The last one before something else is said, unless it asks for tools. */
function replyTo(branch: readonly TranscriptEntry[], entryId: string): SaidBefore["reply"] {
  const at = branch.findIndex(({ id }) => id === entryId);
  const end = branch.findIndex((entry, index) => index > at && roleIn(entry) === "user");
  const last = branch
    .slice(at + 1, end < 0 ? undefined : end)
    .findLast((entry) => entry.type === "message" && entry.message.role === "assistant");
  if (last?.type !== "message" || last.message.role !== "assistant") return null;
  const asksForTools = blocksOf(last.message.content).some(({ type }) => type === "toolCall");
  return asksForTools ? null : { entryId: last.id, message: last.message };
}

function messageOf(
  request: SendRequest & { idempotencyKey: string },
  defaults: { whenBusy: WhenBusy },
): WaitingMessage {
  const { content, idempotencyKey, allowTools = [], whenBusy = defaults.whenBusy } = request;
  const kind = request.kind === "user" ? undefined : request.kind;
  return {
    ...{ id: randomUUID(), at: new Date().toISOString(), content, idempotencyKey },
    whenBusy: whenBusy === "steer" && kind === undefined ? "steer" : "follow",
    ...(allowTools.length > 0 && { allowTools: [...allowTools] }),
    ...(kind !== undefined && { kind }),
  };
}

/** Throws BACKLOG_FULL. */
function requirePlace(
  key: string,
  {
    message,
    before,
    limits,
  }: {
    message: WaitingMessage;
    before: readonly WaitingMessage[];
    limits: SendingOptions["limits"];
  },
): void {
  const bytes = before.reduce((sum, { content }) => sum + bytesOfMessage(content), 0);
  const waiting = { messages: before.length, bytes };
  const plan = planArrival(
    { whenBusy: "follow", bytes: bytesOfMessage(message.content), isPatient: false },
    { isBusy: true, waiting, hasRoom: true, backlog: 0 },
    limits,
  );
  if (plan.kind === "full") throw sessionFull(key, waiting, limits, RETRY_S);
}

/** As long as a dead gateway counts as alive, unless the settings say otherwise. */
const RETRY_S = 10;

const heldElsewhere = (key: string) =>
  new ContextEngineError(
    "SESSION_LOCKED",
    `Session ${key} is open in another process, and no message can be kept for that; try again.`,
  );

/** Null: no other process has the session open. */
async function ownerElsewhere(
  store: Pick<SessionStore, "find">,
  key: string,
): Promise<LockOwner | null> {
  const found = await store.find(key);
  const owner = found && (await readOwner(`${found.file}.lock`));
  if (owner === null || owner.pid === process.pid) return null;
  return (await isInForce(owner)) ? owner : null;
}
