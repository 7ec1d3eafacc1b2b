// Reads session files again when their database was moved away while it was open.
import { asFarAsPossible } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import type { Store } from "../store/store.ts";
import { importFile } from "./import-file.ts";
import type { Siblings } from "./siblings.ts";

/** The session files of an engine, by the sessions that go on. */
export interface Refill {
  /** The file of a session was read into the database that is there now. */
  note(store: Store, session: OwnedSession, path: string): void;
  /** Reads it again when another database is there. */
  ifMovedAway(store: Store, session: OwnedSession): Promise<void>;
}

const MOST_SESSIONS = 1_000;

/**
 * `onMovedAway` is told once of each database that was moved away; `readBeside` reads the files of
 * the agent's other sessions too.
 */
export function createRefill(
  onMovedAway: (path: string) => void = () => {},
  readBeside: Siblings["readBeside"] = async () => {},
): Refill {
  const files = new Map<string, { path: string; file: string }>();
  const seen = new WeakMap<Store, string>();
  const tell = (store: Store, file: string) => {
    if (![undefined, file].includes(seen.get(store))) onMovedAway(store.path);
    seen.set(store, file);
  };
  const note = (store: Store, session: OwnedSession, path: string) => {
    const key = keyOf(session);
    const file = store.fileInUse();
    tell(store, file);
    files.delete(key);
    files.set(key, { path, file });
    if (files.size > MOST_SESSIONS) files.delete(files.keys().next().value!);
  };
  return {
    note,
    ifMovedAway: (store, session) =>
      asFarAsPossible(async () => {
        const file = store.fileInUse();
        tell(store, file);
        const known = files.get(keyOf(session));
        if (known === undefined || known.file === file) return;
        await readBeside(store, session, known.path);
        await importFile(store, { session, path: known.path });
        note(store, session, known.path);
      }),
  };
}

const keyOf = ({ sessionId, sessionKey = "" }: OwnedSession) =>
  JSON.stringify([sessionKey, sessionId]);
