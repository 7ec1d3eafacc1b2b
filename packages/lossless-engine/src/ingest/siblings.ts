// Reads the other session files of an agent, of which its database lacks something.
import { open, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseTranscriptLine } from "@clew/plugin-sdk/transcript";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { bytesRead } from "../store/cursors.ts";
import type { Store } from "../store/store.ts";

/** A session file beside that of a session. */
interface Sibling {
  readonly session: OwnedSession;
  readonly path: string;
  /** When it was begun, ISO 8601. */
  readonly begun: string;
}

/** What an engine does with the files that it finds. */
export interface SiblingParts {
  /** Stores what the file holds and the store lacks. */
  read(store: Store, session: OwnedSession, path: string): Promise<unknown>;
  /** Whether the session is kept in the agent's database. */
  isKept(session: OwnedSession): boolean;
}

/** The other session files of an agent. */
export interface Siblings {
  /**
   * Once for each database. Returns when the earlier transcripts of the same session are read, so
   * that they stand first; all others follow in the background.
   */
  readBeside(store: Store, session: OwnedSession, path: string): Promise<void>;
}

const EXTENSION = ".jsonl";
/** A header is shorter. */
const HEAD_BYTES = 4_096;
/** What is being read in the background, and what came of it. */
const readings = new WeakMap<Store, Promise<string | undefined>>();

export function createSiblings({ read, isKept }: SiblingParts): Siblings {
  const done = new WeakMap<Store, string>();
  return {
    async readBeside(store, session, path) {
      if (!isKept(session)) return;
      const of = JSON.stringify([store.fileInUse(), dirname(path)]);
      if (done.get(store) === of) return;
      const found = (await siblingsLacking(store, session, path)).filter((sibling) =>
        isKept(sibling.session),
      );
      const isEarlier = ({ session: { sessionKey } }: Sibling) =>
        sessionKey !== undefined && sessionKey === session.sessionKey;
      const readAll = async (siblings: readonly Sibling[]) => {
        for (const sibling of siblings) await read(store, sibling.session, sibling.path);
      };
      await readAll(found.filter(isEarlier));
      // What failed is tried again at the next start of the session.
      done.set(store, of);
      const others = found.filter((sibling) => !isEarlier(sibling));
      if (others.length > 0)
        readings.set(
          store,
          readAll(others).then(() => undefined, whyNot),
        );
    },
  };
}

/**
 * Until the other sessions' files are read. What an answer has to say where one could not be;
 * undefined: all are read, or nobody knows of any.
 */
export const othersRead = async (store: Store): Promise<string | undefined> => readings.get(store);

const whyNot = (error: unknown) =>
  `Not all session files could be read, so that what other sessions said may be missing here: ${error instanceof Error ? error.message : String(error)}`;

/** Oldest first: those that were not read, or not to their end. */
async function siblingsLacking(
  store: Store,
  { owner }: OwnedSession,
  path: string,
): Promise<readonly Sibling[]> {
  const own = await stat(path).catch(() => undefined);
  if (own?.isFile() !== true) return [];
  const folder = dirname(path);
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(EXTENSION));
  const known = await patiently(() => bytesRead(store, owner));
  const found: Sibling[] = [];
  for (const name of names) {
    const file = join(folder, name);
    if (file === path) continue;
    const there = await stat(file).catch(() => undefined);
    const sessionId = name.slice(0, -EXTENSION.length);
    if (there?.isFile() !== true || (known.get(sessionId) ?? -1) >= there.size) continue;
    const head = await headOf(file);
    // Copies and backups of a session are not that session.
    if (head?.id !== sessionId) continue;
    const { sessionKey, timestamp } = head;
    const of = typeof sessionKey === "string" ? { sessionId, sessionKey } : { sessionId };
    found.push({ session: { ...of, owner }, path: file, begun: timestamp });
  }
  return found.sort((a, b) => (a.begun < b.begun ? -1 : 1));
}

interface Head {
  readonly id: string;
  readonly timestamp: string;
  readonly sessionKey?: unknown;
}

/** Undefined: it is no session file. */
async function headOf(path: string): Promise<Head | undefined> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const [line = ""] = buffer.toString("utf8", 0, bytesRead).split("\n", 1);
    const parsed = parseTranscriptLine(line);
    return parsed.kind === "header" ? (parsed.header as unknown as Head) : undefined;
  } finally {
    await file.close();
  }
}
