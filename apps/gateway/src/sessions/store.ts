// Finds, opens, lists and reads the sessions of a gateway.
import { randomUUID } from "node:crypto";
import type { HostSession, TranscriptPort } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { TranscriptEntry, TranscriptHeader } from "@clew/plugin-sdk/transcript";
import { isLink, linkedFolder } from "../home/no-links.ts";
import { changeIndex, findSessionId, registerSession } from "./change-index.ts";
import { checkSuccessor } from "./check-successor.ts";
import { readDeliveries } from "./deliveries.ts";
import { explainStorageError } from "./durable-file.ts";
import { moveKey, type SessionIndex } from "./index-file.ts";
import { type SessionSummary, summarize } from "./list-sessions.ts";
import { requireSessionName, sessionNotFound } from "./name-errors.ts";
import { CHECKPOINT_FROM, type OpenSession, type OpenSessionRequest, openSession } from "./open.ts";
import { agentPaths, deliveriesFile, transcriptFile } from "./paths.ts";
import { readBranch, readPage, type TranscriptPage } from "./read-transcript.ts";
import { removeSession } from "./remove-session.ts";
import { createSessionList } from "./session-list.ts";

export interface ReadSession extends SessionSummary {
  header: TranscriptHeader;
  /** The active branch, oldest first. */
  branch: readonly TranscriptEntry[];
}

/** The newest entries of a session. */
export interface SessionPage extends SessionSummary, TranscriptPage {}

/** How a session begins that is not in files. */
export interface SessionBeginning {
  /** Lines of its first messages. */
  said: readonly string[];
  /** The first lines of what the door knows of it. */
  door: readonly string[];
}

export interface SessionStore {
  /**
   * Opens for writing; a key without a transcript gets one at its first append. Throws
   * SESSION_LOCKED, TRANSCRIPT_UNREADABLE, STORAGE_FAILED.
   */
  open(
    request: { key: string; cwd: string } & Pick<OpenSessionRequest, "now" | "newId">,
  ): Promise<OpenSession>;
  /**
   * Gives a key a new transcript, which its first append creates; the old one is kept and listed
   * under `archivedAs` (null: there was none).
   */
  renew(key: string): Promise<{ sessionId: string; archivedAs: string | null }>;
  /**
   * Moves a session to the transcript `sessionId` of the same agent and opens it: compare-and-set,
   * so undefined when the session has another transcript than `from` by now. Throws
   * ENGINE_OPERATION_FAILED when there is no such transcript in the agent's folder.
   */
  adopt(move: {
    from: HostSession;
    sessionId: string;
    sessionFile: string | undefined;
    cwd: string;
    /** Awaited with the opened transcript before the session is moved to it. Absent: nothing is. */
    prepare?: (successor: TranscriptPort) => Promise<void>;
  }): Promise<OpenSession | undefined>;
  /**
   * The session is there no more: its key, its transcript and what engines acknowledged of it. What
   * was archived under other keys stays. Throws SESSION_LOCKED while somebody has it open.
   */
  remove(key: string): Promise<void>;
  /**
   * How sessions begin, by their files: what a list tells of each, the same at every gateway.
   * Absent: their files say so.
   */
  beginnings?(sessions: readonly SessionSummary[]): Promise<ReadonlyMap<string, SessionBeginning>>;
  /** Newest first. Reads no transcript. */
  list(): Promise<readonly SessionSummary[]>;
  /** SESSION_NOT_FOUND for a name, with the session that may be meant. */
  notFound(name: string): Promise<ContextEngineError>;
  /** Reads no transcript; null when there is none. */
  find(key: string): Promise<SessionSummary | null>;
  /** The same, and its file says what is stored; unread, so that a damaged one is given, too. */
  withFile(key: string): Promise<SessionSummary | null>;
  /** Id of the transcript that a name stands for, also while nothing was said in it; null: none. */
  idOf(key: string): Promise<string | null>;
  /** The session as its file says now, whoever writes it; null when there is none. */
  read(key: string): Promise<ReadSession | null>;
  /** At most `limit` of its newest entries; of a large file only the end is read. */
  newest(key: string, limit: number): Promise<SessionPage | null>;
  /** What engines have acknowledged of a session, as its file says now. */
  deliveries(session: SessionSummary): ReturnType<typeof readDeliveries>;
}

/** Keys may be short names; they are of the agent "main" then. */
export function createSessionStore({
  home,
  checkpointFrom = CHECKPOINT_FROM,
}: {
  home: string;
  /** Smaller session files need no checkpoint, bytes. Absent: CHECKPOINT_FROM. */
  checkpointFrom?: number;
}): SessionStore {
  const list = createSessionList(home);
  const find = async (text: string) => {
    const name = requireSessionName(text);
    const sessionId = await findSessionId(home, name);
    return sessionId === undefined ? null : summarize(home, name.agentId, name.key, sessionId);
  };
  return {
    open: (request) =>
      openByKey({ home, checkpointFrom }, request).catch((error: unknown) => {
        throw explainStorageError(error, home);
      }),
    async renew(key) {
      const name = requireSessionName(key);
      const sessionId = randomUUID();
      const { before, after } = await changeIndex(home, name.agentId, (index) =>
        moveKey(home, name.agentId, index, name.key, sessionId),
      );
      const old = before[name.key]?.sessionId;
      const archivedAs = Object.keys(after).find(
        (each) => each !== name.key && old !== undefined && after[each]?.sessionId === old,
      );
      return { sessionId, archivedAs: archivedAs ?? null };
    },
    remove: (key) => removeSession(home, requireSessionName(key)),
    adopt: (move) => adoptSuccessor({ home, checkpointFrom }, move),
    list: list.all,
    async notFound(name) {
      const known = await list.all().catch(() => []);
      return sessionNotFound(
        name,
        known.map(({ key }) => key),
      );
    },
    deliveries: ({ agentId, sessionId }) =>
      readDeliveries(deliveriesFile(home, agentId, sessionId)),
    find,
    withFile: find,
    idOf: async (key) => (await findSessionId(home, requireSessionName(key))) ?? null,
    async read(key) {
      const found = await find(key);
      return found && { ...found, ...(await readBranch(found.file)) };
    },
    async newest(key, limit) {
      const found = await find(key);
      return found && { ...found, ...(await readPage(found, limit, checkpointFrom)) };
    },
  };
}

interface StoreSettings {
  home: string;
  checkpointFrom: number;
}

async function openByKey(
  { home, checkpointFrom }: StoreSettings,
  { key, cwd, now, newId }: Parameters<SessionStore["open"]>[0],
): Promise<OpenSession> {
  const name = requireSessionName(key);
  refuseLinkedFolder(home, name.agentId);
  const sessionId = (await findSessionId(home, name)) ?? (await registerSession(home, name));
  const sessionFile = transcriptFile(home, name.agentId, sessionId);
  refuseLink(sessionFile);
  const session = { agentId: name.agentId, sessionId, sessionKey: name.key, sessionFile };
  return openSession({
    session,
    ...{ cwd, checkpointFrom },
    deliveriesFile: deliveriesFile(home, name.agentId, sessionId),
    ...(now !== undefined && { now }),
    ...(newId !== undefined && { newId }),
  });
}

/** Where it leads is nobody's session. */
function refuseLink(file: string): void {
  if (isLink(file))
    throw new ContextEngineError(
      "TRANSCRIPT_UNREADABLE",
      `The session file ${file} is a link, which is never followed; put the file itself in its place.`,
    );
}

/** What is written into them goes where somebody else wants it to, too. */
function refuseLinkedFolder(home: string, agentId: string): void {
  const link = linkedFolder(home, agentPaths(home, agentId).sessions);
  if (link !== undefined)
    throw new ContextEngineError(
      "STORAGE_FAILED",
      `The folder ${link} is a link, which is never followed; put what it leads to in its place, or move the whole home there and set CLEW_HOME.`,
    );
}

async function adoptSuccessor(
  { home, checkpointFrom }: StoreSettings,
  { from, sessionId, sessionFile, cwd, prepare }: Parameters<SessionStore["adopt"]>[0],
) {
  const { agentId, sessionKey } = from;
  const file = await checkSuccessor(home, agentId, { sessionId, sessionFile });
  const session = { agentId, sessionId, sessionKey, sessionFile: file };
  const opened = await openSession({
    session,
    ...{ cwd, checkpointFrom },
    deliveriesFile: deliveriesFile(home, agentId, sessionId),
  });
  try {
    await prepare?.(opened);
    const { before, after } = await changeIndex(home, agentId, async (index) =>
      index[sessionKey]?.sessionId === from.sessionId
        ? moveKey(home, agentId, withoutTranscript(index, sessionId), sessionKey, sessionId)
        : index,
    );
    if (after !== before) return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
  await opened.close();
  return undefined;
}

/**
 * A file that another program put there gets an archived key when sessions are listed; as a
 * successor it has its session's.
 */
const withoutTranscript = (index: SessionIndex, sessionId: string): SessionIndex =>
  Object.fromEntries(Object.entries(index).filter(([, entry]) => entry.sessionId !== sessionId));
