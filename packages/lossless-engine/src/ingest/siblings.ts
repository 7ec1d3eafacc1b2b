// Reads the other session files of an agent, of which its database lacks something.
import { basename, dirname } from "node:path";
import type { OwnedSession } from "../sessions/owner.ts";
import { IN_MEMORY, type Store } from "../store/store.ts";
import type { Import } from "./import-file.ts";
import { type Sibling, siblingsLacking } from "./sibling-files.ts";

/** What an engine does with the files that it finds. */
export interface SiblingParts {
  /** What stores the part of a file that the store lacks, beside a session that was opened. */
  reader(
    store: Store,
    opened: OwnedSession,
  ): (session: OwnedSession, path: string) => Promise<Import>;
  /** Whether the session is kept in the agent's database. */
  isKept(session: OwnedSession): boolean;
  /** What was read already. Absent: what one engine read, it alone knows. */
  readonly done?: SiblingsDone | undefined;
}

/** Folders that were read into databases: some hosts make their engines anew with every turn. */
export type SiblingsDone = Set<string>;

/** The other session files of an agent. */
export interface Siblings {
  /**
   * Once for each database and folder. Returns when the earlier transcripts of the same session are
   * read, so that in a new database they stand first; all others follow in the background.
   */
  readBeside(store: Store, session: OwnedSession, path: string): Promise<void>;
}

/** What came of reading beside one database. */
interface Reading {
  /** By session key, "" where none is known: files that could not be read, and why. */
  readonly unread: Map<string, string[]>;
  /** Until all are read; never rejects. */
  others: Promise<void>;
}

const ofFiles = new Map<string, Reading>();
const ofMemory = new WeakMap<Store, Reading>();

export function createSiblings({ reader, isKept, done = new Set() }: SiblingParts): Siblings {
  const doneInMemory = new WeakSet<Store>();
  return {
    async readBeside(store, session, path) {
      if (!isKept(session)) return;
      const of = JSON.stringify([store.path, store.fileInUse(), dirname(path), session.owner]);
      if (store.path === IN_MEMORY ? doneInMemory.has(store) : done.has(of)) return;
      const { found, headless } = await siblingsLacking(store, session, path);
      const kept = found.filter((sibling) => isKept(sibling.session));
      const earlier = kept.filter((sibling) => isEarlier(sibling, session));
      const read = reader(store, session);
      const reading: Reading = { unread: new Map(), others: Promise.resolve() };
      remember(store, reading);
      for (const file of headless) noteUnread(reading, "", file, "its first line is no header");
      /** What the disk or the database refuses is noted as what it is, and thrown at the end. */
      const readAll = async (siblings: readonly Sibling[]) => {
        let failure: { error: unknown } | undefined;
        for (const { session, path } of siblings) {
          const { sessionKey = "" } = session;
          try {
            const { reason } = await read(session, path);
            if (reason !== undefined) noteUnread(reading, sessionKey, path, reason);
          } catch (error) {
            failure = { error };
            noteUnread(reading, sessionKey, path, whyOf(error));
          }
        }
        if (failure !== undefined) throw failure.error;
      };
      await readAll(earlier);
      if (store.path === IN_MEMORY) doneInMemory.add(store);
      else done.add(of);
      const others = kept.filter((sibling) => !earlier.includes(sibling));
      // What failed, here or before, is noted, and tried again at the next start of a session.
      reading.others = readAll(others).catch(() => {
        doneInMemory.delete(store);
        done.delete(of);
      });
    },
  };
}

const isEarlier = ({ session: { sessionKey } }: Sibling, session: OwnedSession) =>
  sessionKey !== undefined && sessionKey === session.sessionKey;

function remember(store: Store, reading: Reading): void {
  if (store.path === IN_MEMORY) ofMemory.set(store, reading);
  else ofFiles.set(store.path, reading);
}

function noteUnread({ unread }: Reading, sessionKey: string, path: string, why: string): void {
  unread.set(sessionKey, [...(unread.get(sessionKey) ?? []), `${basename(path)}: ${why}`]);
}

const whyOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Files that are told by name. */
const MOST_TOLD = 3;

/**
 * What an answer has to say where files could not be read; undefined: all are, or nobody knows of
 * any. `sessionKey`: only files of that session count; null = those of all, which are waited for.
 */
export async function unreadBeside(
  store: Store,
  sessionKey: string | null,
): Promise<string | undefined> {
  const reading = store.path === IN_MEMORY ? ofMemory.get(store) : ofFiles.get(store.path);
  if (reading === undefined) return undefined;
  if (sessionKey === null) await reading.others;
  const files =
    sessionKey === null ? [...reading.unread.values()].flat() : reading.unread.get(sessionKey);
  if (files === undefined || files.length === 0) return undefined;
  const more = files.length > MOST_TOLD ? `, and ${files.length - MOST_TOLD} more` : "";
  return `Not all session files could be read, so that what was said there may be missing here: ${files.slice(0, MOST_TOLD).join("; ")}${more}.`;
}
