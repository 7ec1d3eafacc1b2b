// Lets one piece of work at a time change where a session's messages are in a database.
import type { OwnedSession } from "../sessions/owner.ts";
import type { Store } from "../store/store.ts";

const running = new WeakMap<Store, Map<string, Promise<unknown>>>();

/** What `work` answers, done when those that came before it are over, whatever came of them. */
export async function oneAtATime<Answer>(
  store: Store,
  { sessionId, sessionKey = "" }: OwnedSession,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const ofStore = running.get(store) ?? new Map<string, Promise<unknown>>();
  running.set(store, ofStore);
  // The earlier transcripts of a session are brought up with it.
  const key = sessionKey === "" ? `id ${sessionId}` : `key ${sessionKey}`;
  const before = ofStore.get(key);
  const done = (before ?? Promise.resolve()).then(work, work);
  const settled = done.then(
    () => {},
    () => {},
  );
  ofStore.set(key, settled);
  try {
    return await done;
  } finally {
    if (ofStore.get(key) === settled) ofStore.delete(key);
  }
}
