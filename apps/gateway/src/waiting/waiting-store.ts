// Says what keeps messages that wait, so that no end of a process loses one.
import type { UserMessage } from "@clew/plugin-sdk/core";
import type { WaitingMessage } from "./waiting-message.ts";

/** What waits in one session, in order. */
export interface KeptMessages {
  sessionKey: string;
  messages: WaitingMessage[];
}

export interface WaitingStore {
  /** What `now` gives when it is written. Durable when it resolves. Throws STORAGE_FAILED. */
  save(sessionKey: string, now: () => readonly WaitingMessage[]): Promise<void>;
  read(sessionKey: string): Promise<WaitingMessage[]>;
  /** Of all sessions that no other gateway may have. */
  all(): Promise<KeptMessages[]>;
  /** Takes away what a process that was killed had half written. */
  tidy(): Promise<void>;
  /** Absent: no other gateway keeps messages there. */
  readonly shared?: SharedWaiting;
}

/** A turn that was cut short by the end of its gateway. */
export interface CutTurn {
  /** Of its prompt. */
  entryId: string;
  prompt: UserMessage;
}

/** Messages are where several gateways keep them; whoever has a session says those in it. */
export interface SharedWaiting {
  /**
   * What is to be done in a session that is not open here. `cut`: nobody who lives goes on with it;
   * null: there is no such turn.
   */
  left(sessionKey: string): Promise<{ messages: WaitingMessage[]; cut: CutTurn | null }>;
  /** This gateway looks after them from now on: they are said here, or `save` takes them away. */
  hold(sessionKey: string, names: readonly string[]): void;
  /** It does no more, and they stay, or are gone by now. Without names: all of the session. */
  letGo(sessionKey: string, names?: readonly string[]): void;
  /** It looks after the one of this name. */
  holds(sessionKey: string, name: string): boolean;
  /** False: it was said, or taken back. */
  waits(sessionKey: string, name: string): Promise<boolean>;
  /** For whoever has the session; gives what is kept under its name. Durable when it resolves. */
  keep(sessionKey: string, message: WaitingMessage): Promise<WaitingMessage>;
  /** Null: all of the session. How many did wait. */
  takeBack(sessionKey: string, id: string | null): Promise<number>;
  /**
   * Claims sessions with messages or turns whose gateway is dead, and tells which these are, and in
   * which ones messages are that this gateway is to say and does not look after. `known`: keys of
   * sessions in which it has something to do already.
   */
  due(known: readonly string[]): Promise<{
    keys: readonly string[];
    /** Others may be left. */
    isMore: boolean;
  }>;
  /** How often to ask for what is due, ms. */
  readonly everyMs: number;
}
