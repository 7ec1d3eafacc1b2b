// Which store a session's recall reads.
import type { SessionRef } from "@clew/plugin-sdk/core";
import type { Store } from "../store/store.ts";
import type { Stores } from "../stores.ts";

/** The stores of the sessions that an engine of this process has met, the newest of them. */
export interface Reach {
  /**
   * The same stores; the sessions for which they are asked are met. `workspace`: where they work.
   */
  watching(stores: Stores, workspace?: string | undefined): Stores;
  /** Undefined: no engine met it, or it is ignored. */
  storeOf(session: Partial<SessionRef>): Store | undefined;
  /** The folder where the session works. Undefined: nobody said. */
  workspaceOf(session: Partial<SessionRef>): string | undefined;
  /** Tokens that the model of the session was last said to hold. Undefined: nobody said. */
  windowOf(session: Partial<SessionRef>): number | undefined;
  /** Says so. */
  noteWindow(session: SessionRef, tokens: number): void;
}

const MOST_SESSIONS = 1_000;

export function createReach(): Reach {
  const known = new Map<string, Met>();
  const met = (session: SessionRef, stores: Stores, workspace: string | undefined) => {
    const key = keyOf(session);
    const window = known.get(key)?.window;
    known.delete(key);
    known.set(key, { session, stores, workspace, window });
    if (known.size > MOST_SESSIONS) known.delete(known.keys().next().value!);
  };
  const metAs = ({ sessionId = "", sessionKey = "" }: Partial<SessionRef>) =>
    known.get(sessionKey) ?? known.get(sessionId);
  return {
    watching: (stores, workspace) => ({
      of(session) {
        met(session, stores, workspace);
        return stores.of(session);
      },
      ofAgent: stores.ofAgent,
      release: stores.release,
    }),
    storeOf(session) {
      const found = metAs(session);
      return found?.stores.of(found.session) ?? undefined;
    },
    workspaceOf: (session) => metAs(session)?.workspace,
    windowOf: (session) => metAs(session)?.window,
    noteWindow(session, tokens) {
      const found = metAs(session);
      if (found !== undefined) found.window = tokens;
    },
  };
}

interface Met {
  session: SessionRef;
  stores: Stores;
  workspace: string | undefined;
  /** Tokens. */
  window: number | undefined;
}

const keyOf = ({ sessionId, sessionKey }: SessionRef) => sessionKey ?? sessionId;
