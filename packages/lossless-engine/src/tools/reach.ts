// Which store a session's recall reads.
import type { EngineRows, SessionRef } from "@clew/plugin-sdk/core";
import type { OwnedSession } from "../sessions/owner.ts";
import type { SharedPlaces } from "../sharing/others.ts";
import type { Store } from "../store/store.ts";
import type { Stores } from "../stores.ts";

/** The stores of the sessions that an engine of this process has met, the newest of them. */
export interface Reach {
  /**
   * The same stores; the sessions for which they are asked are met. `workspace`: where they work.
   * `rows`: where they are shared.
   */
  watching(stores: Stores, workspace?: string | undefined, rows?: EngineRows | undefined): Stores;
  /** Until `work` is done, of a session that no engine met: these are its stores. */
  lending<Answer>(
    session: OwnedSession,
    stores: Stores,
    work: () => Promise<Answer>,
  ): Promise<Answer>;
  /** False: no engine of this process was asked anything about it yet. */
  hasMet(session: Partial<SessionRef>): boolean;
  /** Undefined: no engine met it, or it is ignored. */
  storeOf(session: Partial<SessionRef>): Store | undefined;
  /** The agent's database, of a session that leaves nothing in it. Undefined: of any other. */
  besideOf(session: Partial<SessionRef>): Store | undefined;
  /** Where sessions of its agent are shared. Undefined: they stay on this machine. */
  sharedOf(session: Partial<SessionRef>): SharedPlaces | undefined;
  /** The session with its owner, as an engine met it. */
  asMet(session: SessionRef): OwnedSession;
  /** The folder where the session works. Undefined: nobody said. */
  workspaceOf(session: Partial<SessionRef>): string | undefined;
  /** How storing what was said in the session went. `failure` absent: well. */
  noteStored(session: SessionRef, failure?: unknown): void;
  /** That and since when not all of the session is stored. Undefined: all that was told is. */
  behind(session: Partial<SessionRef>): string | undefined;
  /** Tokens that the model of the session was last said to hold. Undefined: nobody said. */
  windowOf(session: Partial<SessionRef>): number | undefined;
  /** Says so. */
  noteWindow(session: SessionRef, tokens: number): void;
}

/** A few hundred bytes each. */
const MOST_SESSIONS = 20_000;
const MOST_FAILURES = 100;

export function createReach(): Reach {
  const known = new Map<string, Met>();
  const lent = new Set<Lent>();
  // A host that sets an engine aside tells it of no session any more, whosesoever call failed.
  const failures = new WeakMap<Stores, Failure[]>();
  let steps = 0;
  const met = (session: OwnedSession, { stores, workspace, rows }: Whereabouts) => {
    const key = keyOf(session);
    const { window, storedAt = 0 } = known.get(key) ?? {};
    if (!failures.has(stores)) failures.set(stores, []);
    known.delete(key);
    known.set(key, { session, stores, workspace, rows, window, storedAt });
    if (known.size > MOST_SESSIONS) known.delete(known.keys().next().value!);
  };
  /** A session whose tools are called is among the newest again. */
  const metAs = ({ sessionId = "", sessionKey = "" }: Partial<SessionRef>) => {
    const key = known.has(sessionKey) ? sessionKey : sessionId;
    const found = known.get(key);
    if (found === undefined) return undefined;
    known.delete(key);
    known.set(key, found);
    return found;
  };
  const readAs = (session: Partial<SessionRef>): Lent | undefined =>
    metAs(session) ??
    [...lent].find(({ session: { sessionId, sessionKey } }) =>
      sessionKey === undefined
        ? sessionId === session.sessionId
        : sessionKey === session.sessionKey,
    );
  return {
    async lending(session, stores, work) {
      const one = { session, stores };
      lent.add(one);
      try {
        return await work();
      } finally {
        lent.delete(one);
      }
    },
    watching: (stores, workspace, rows) => ({
      of(session) {
        met(session, { stores, workspace, rows });
        return stores.of(session);
      },
      owner: stores.owner,
      ofAgent: stores.ofAgent,
      keeps: stores.keeps,
      release: stores.release,
      missing: stores.missing,
    }),
    hasMet: (session) => metAs(session) !== undefined,
    storeOf(session) {
      const found = readAs(session);
      return found?.stores.of(found.session) ?? undefined;
    },
    besideOf(session) {
      const found = readAs(session);
      if (found === undefined || found.stores.keeps(found.session)) return undefined;
      return found.stores.missing() === null ? found.stores.ofAgent() : undefined;
    },
    sharedOf(session) {
      const { rows, stores } = metAs(session) ?? {};
      return rows && stores && { rows, keeps: stores.keeps };
    },
    asMet: (session) => ({ ...session, owner: readAs(session)?.session.owner }),
    workspaceOf: (session) => metAs(session)?.workspace,
    noteStored(session, failure) {
      const found = metAs(session);
      if (found === undefined) return;
      if (failure === undefined) found.storedAt = ++steps;
      else {
        const before = failures.get(found.stores)!.slice(-MOST_FAILURES);
        failures.set(found.stores, [...before, { step: ++steps, at: new Date(), failure }]);
      }
    },
    behind(session) {
      const found = metAs(session);
      const first = found && failures.get(found.stores)?.find(({ step }) => step > found.storedAt);
      if (first === undefined) return undefined;
      const since = first.at.toISOString().slice(0, 16).replace("T", " ");
      const why = first.failure instanceof Error ? ` ${first.failure.message}` : "";
      return `Not all is stored: what was said since ${since} UTC may be missing here.${why}`;
    },
    windowOf: (session) => metAs(session)?.window,
    noteWindow(session, tokens) {
      const found = metAs(session);
      if (found !== undefined) found.window = tokens;
    },
  };
}

/** What is read of a session. */
interface Lent {
  session: OwnedSession;
  stores: Stores;
}

interface Whereabouts {
  stores: Stores;
  workspace: string | undefined;
  rows: EngineRows | undefined;
}

interface Met extends Lent, Whereabouts {
  /** Step of the last time that all of it was stored. */
  storedAt: number;
  /** Tokens. */
  window: number | undefined;
}

const keyOf = ({ sessionId, sessionKey }: SessionRef) => sessionKey ?? sessionId;

interface Failure {
  step: number;
  at: Date;
  failure: unknown;
}
