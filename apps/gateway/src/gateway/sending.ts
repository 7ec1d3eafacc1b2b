// Takes in what people say in sessions, and looks after what waits there.
import type { LogPort, TurnResult } from "@clew/engine-core";
import type { WhenBusy } from "../config/when-busy.ts";
import { requireMessageFits } from "../limits/message.ts";
import { isInForce, type LockOwner, readOwner } from "../locks/lock.ts";
import { mendAfterFailure } from "../plugins/contain/shared-watch.ts";
import type { Conversations } from "../sessions/conversations.ts";
import type { SessionStore } from "../sessions/store.ts";
import { createInbox, type InboxOptions, type Taken } from "../waiting/inbox.ts";
import { alreadySaid } from "../waiting/refusals.ts";
import type { SendRequest } from "../waiting/send-request.ts";
import { createWaitingFiles } from "../waiting/waiting-files.ts";
import type { WaitingView } from "../waiting/waiting-message.ts";
import { entrySaying } from "./turns.ts";

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

export interface Sending {
  offer(request: SendRequest): Promise<Taken>;
  send(request: SendRequest): Promise<TurnResult>;
  readonly waiting: WaitingMessages;
  /** Cancels the turn that begins in a session; false: none does. By canonical key. */
  cancel(key: string): boolean;
  /** Messages that wait. */
  backlog(): number;
  /** Nothing that waits begins any more. */
  close(): void;
}

export interface SendingOptions extends Pick<InboxOptions, "run" | "tell"> {
  home: string;
  log: LogPort;
  limits: InboxOptions["limits"] & { messageBytes: number };
  /** Of messages that do not say it. */
  whenBusy: WhenBusy;
  store: Pick<SessionStore, "find">;
  conversations: Pick<Conversations, "busy" | "peek">;
  canonicalKey(text: string): string;
}

export function createSending({
  home,
  log,
  limits,
  whenBusy,
  store,
  conversations,
  canonicalKey,
  run,
  tell,
}: SendingOptions): Sending {
  const inbox = createInbox({
    ...{ log, limits, files: createWaitingFiles({ home, log }), whenBusy, run, tell },
    onFailure: () => void mendAfterFailure(),
    isBusyElsewhere: (key) => conversations.busy().has(key),
    entrySaying(key, name) {
      const open = conversations.peek(key);
      return open && entrySaying(open, name);
    },
  });
  const offer: Sending["offer"] = async (request) => {
    requireMessageFits(request.content, limits.messageBytes);
    return inbox.offer({ ...request, key: canonicalKey(request.key) });
  };
  return {
    ...{ cancel: inbox.cancel, backlog: inbox.backlog, close: inbox.close, offer },
    async send(request) {
      const sent = await (await offer(request)).result;
      if (sent.outcome === "known") throw alreadySaid(request.key);
      return sent;
    },
    waiting: {
      list: async (text) => inbox.list(canonicalKey(text)),
      takeBack: async (text, id) => inbox.takeBack(canonicalKey(text), id),
      clear: async (text) => inbox.clear(canonicalKey(text)),
      takeIn: () => inbox.takeIn(),
      async resume(text) {
        const key = text === undefined ? undefined : canonicalKey(text);
        // Whoever has it open has what waits in it.
        const isHere = key !== undefined && (await ownerElsewhere(store, key)) === null;
        const count = isHere ? await inbox.takeIn(key) : 0;
        inbox.resume();
        return count;
      },
    },
  };
}

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
