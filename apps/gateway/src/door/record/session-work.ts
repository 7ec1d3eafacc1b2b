// Lets what is stored of a session be stored one after the other, beside the answering.
import { setImmediate as nextRound } from "node:timers/promises";
import type { LogPort } from "@clew/engine-core";
import type { Conversation, Conversations } from "../../sessions/conversations.ts";
import type { DoorJournals } from "../../storage/door-journals.ts";
import type { DoorTurn } from "../turn/door-turn.ts";
import { LiveSession } from "./live-session.ts";

export interface SessionWork {
  /**
   * Resolves with what comes of it, in its turn; undefined: it failed, which the log says, and
   * costs no reply.
   */
  inSession<Result>(
    turn: DoorTurn,
    work: (conversation: Conversation, live: LiveSession) => Promise<Result>,
    onFailed?: (why: string) => void,
  ): Promise<Result | undefined>;
  /** The same for whoever has the session's turn already. */
  inTurn(conversation: Conversation, work: (live: LiveSession) => Promise<void>): Promise<void>;
  /** Ends with the newest work of a session; undefined: there is none. */
  pending(key: string): Promise<unknown> | undefined;
  /** How much is under way or waits, by the keys of sessions. */
  counts(): ReadonlyMap<string, number>;
  /** As of the recorder. */
  caughtUp(key: string): Promise<void>;
  settled(): Promise<void>;
}

/** Sessions of which something is still to be stored. */
const MOST_BEHIND = 32;

export function createSessionWork({
  conversations,
  journals,
  log,
}: {
  conversations: Pick<Conversations, "run">;
  journals: Pick<DoorJournals, "of">;
  log: LogPort;
}): SessionWork {
  const lives = new WeakMap<Conversation, Promise<LiveSession>>();
  const pending = new Map<string, Promise<unknown>>();
  const counts = new Map<string, number>();
  const liveOf = (conversation: Conversation) => {
    const live = lives.get(conversation) ?? LiveSession.open(conversation, journals);
    lives.set(conversation, live);
    // What could not be read now may be later.
    live.catch(() => lives.delete(conversation));
    return live;
  };
  const run = async <Result>(
    conversation: Conversation,
    work: (conversation: Conversation, live: LiveSession) => Promise<Result>,
  ): Promise<Result> => {
    // Whoever waits for bytes gets them first.
    await nextRound();
    const live = await liveOf(conversation);
    try {
      return await work(conversation, live);
    } catch (error) {
      // Nobody knows how much of it is stored: its files tell.
      lives.delete(conversation);
      throw error;
    }
  };
  return {
    inSession({ key }, work, onFailed) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      const done = conversations
        .run(key, (conversation) => run(conversation, work))
        .catch((error: unknown) => {
          const why = messageOf(error);
          log.warn(`session ${key}: a request at the door was not stored: ${why}`);
          onFailed?.(why);
          return undefined;
        })
        .finally(() => {
          const left = (counts.get(key) ?? 0) - 1;
          if (left > 0) counts.set(key, left);
          else counts.delete(key);
        });
      // One after another in each session: the newest ends last.
      pending.set(key, done);
      void done.finally(() => pending.get(key) === done && pending.delete(key));
      return done;
    },
    inTurn: (conversation, work) =>
      run(conversation, (_conversation, live) => work(live)).catch((error: unknown) => {
        const { sessionKey } = conversation.session.session;
        log.warn(`session ${sessionKey}: the door did not note a turn: ${messageOf(error)}`);
      }),
    pending: (key) => pending.get(key),
    counts: () => counts,
    async caughtUp(key) {
      await pending.get(key);
      while (pending.size >= MOST_BEHIND) await pending.values().next().value;
    },
    async settled() {
      while (pending.size > 0) await Promise.all(pending.values());
    },
  };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
