// Gives the turns of one session its transcript one after another.
import { AsyncLocalStorage } from "node:async_hooks";
import { ContextEngineError } from "@clew/plugin-sdk/core";

/** What a second turn of a session does while the first one runs. */
export type WhenBusy = "queue" | "refuse";

/** One per open session. */
export interface SessionLock {
  /** Settles when everybody who came before is done. */
  tail: Promise<void>;
  /** Turns that run or wait. */
  holders: number;
}

interface Hold {
  readonly lock: SessionLock;
  over: boolean;
}

/** What the code that runs now was called from. */
const holding = new AsyncLocalStorage<Hold>();

export const openLock = (): SessionLock => ({ tail: Promise.resolve(), holders: 0 });

/**
 * Runs `work` when the session is free. Throws SESSION_LOCKED when it is not and shall not be
 * waited for, and always when `work` is started from inside a turn of the same session, which would
 * wait for itself. An aborted turn keeps its place: its message belongs in the transcript.
 */
export async function withSession<Result>(
  lock: SessionLock,
  { whenBusy = "queue", sessionKey }: { whenBusy?: WhenBusy | undefined; sessionKey: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const outer = holding.getStore();
  if (outer?.lock === lock && !outer.over)
    throw locked(`Session ${sessionKey} is in the middle of the turn that asks for another one`);
  if (lock.holders > 0 && whenBusy === "refuse")
    throw locked(`Session ${sessionKey} is in the middle of a turn`);
  const before = lock.tail;
  let release = () => {};
  lock.tail = new Promise((resolve) => {
    release = resolve;
  });
  lock.holders++;
  const hold: Hold = { lock, over: false };
  try {
    await before;
    return await holding.run(hold, work);
  } finally {
    hold.over = true;
    lock.holders--;
    release();
  }
}

const locked = (what: string) =>
  new ContextEngineError("SESSION_LOCKED", `${what}; wait for it to end, or use another session.`);
