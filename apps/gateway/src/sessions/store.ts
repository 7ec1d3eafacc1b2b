// Finds, opens, lists and reads the sessions of a gateway.
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import type { HostSession, TranscriptPort } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  activeBranch,
  parseTranscriptLine,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import { fileNotFound } from "../file-not-found.ts";
import { acquireLock, type Lock } from "../locks/lock.ts";
import { storageFailed } from "../storage-error.ts";
import { readDeliveries } from "./deliveries.ts";
import { explainStorageError } from "./durable-file.ts";
import { completeIndex, moveKey, readIndex, type SessionIndex, writeIndex } from "./index-file.ts";
import { isSafeId, type SessionName } from "./keys.ts";
import { loadLate } from "./load-late.ts";
import { requireSessionName } from "./name-errors.ts";
import { CHECKPOINT_FROM, type OpenSession, openSession } from "./open.ts";
import { agentPaths, deliveriesFile, transcriptFile } from "./paths.ts";
import { readSessionFile } from "./read-file.ts";
import { readNewest } from "./read-newest.ts";
import { shownEntries, shownEntry } from "./shown.ts";

export interface SessionSummary {
  key: string;
  agentId: string;
  sessionId: string;
  file: string;
  bytes: number;
  /** ISO 8601; last write. */
  updatedAt: string;
}

export interface ReadSession extends SessionSummary {
  header: TranscriptHeader;
  /** The active branch, oldest first. */
  branch: readonly TranscriptEntry[];
}

/** The newest entries of a session. */
export interface SessionPage extends SessionSummary {
  header: TranscriptHeader;
  /** Those that may be shown, as they are shown, oldest first. */
  entries: TranscriptEntry[];
  /** Of the active branch, shown or not; null = its beginning was not read. */
  totalEntries: number | null;
}

export interface SessionStore {
  /**
   * Opens for writing; a key without a transcript gets one at its first append. Throws
   * SESSION_LOCKED, TRANSCRIPT_UNREADABLE, STORAGE_FAILED.
   */
  open(request: { key: string; cwd: string; now?: () => number }): Promise<OpenSession>;
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
  /** Newest first. Reads no transcript. */
  list(): Promise<SessionSummary[]>;
  /** Reads no transcript; null when there is none. */
  find(key: string): Promise<SessionSummary | null>;
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
    adopt: (move) => adoptSuccessor({ home, checkpointFrom }, move),
    async list() {
      const agents = await listAgents(home);
      const found = await Promise.all(agents.map((agentId) => listAgentSessions(home, agentId)));
      return found.flat().sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
    },
    deliveries: ({ agentId, sessionId }) =>
      readDeliveries(deliveriesFile(home, agentId, sessionId)),
    find,
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
  { key, cwd, now }: Parameters<SessionStore["open"]>[0],
): Promise<OpenSession> {
  const name = requireSessionName(key);
  const sessionId = (await findSessionId(home, name)) ?? (await registerSession(home, name));
  const sessionFile = transcriptFile(home, name.agentId, sessionId);
  const session = { agentId: name.agentId, sessionId, sessionKey: name.key, sessionFile };
  return openSession({
    session,
    ...{ cwd, checkpointFrom },
    deliveriesFile: deliveriesFile(home, name.agentId, sessionId),
    ...(now !== undefined && { now }),
  });
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

/** Engines write a successor where its session lives; nothing else is moved to. */
async function checkSuccessor(
  home: string,
  agentId: string,
  given: { sessionId: string; sessionFile: string | undefined },
): Promise<string> {
  const refuse = (why: string) =>
    new ContextEngineError(
      "ENGINE_OPERATION_FAILED",
      `The session cannot move to the engine's transcript "${given.sessionId}": ${why}; it stays where it is.`,
    );
  if (!isSafeId(given.sessionId)) throw refuse("that is not a session id");
  const file = transcriptFile(home, agentId, given.sessionId);
  const realOf = (path: string) => realpath(path).catch(() => null);
  const [real, named] = [await realOf(file), await realOf(given.sessionFile ?? file)];
  if (real === null) throw refuse(`there is no file ${file}`);
  if (named !== real || dirname(real) !== (await realpath(dirname(file))))
    throw refuse("it is outside the agent's sessions folder");
  const header = (await readHeader(file)) ?? (await readTranscript(file)).header;
  if (header.id !== given.sessionId) throw refuse(`the file calls itself "${header.id}"`);
  return file;
}

/** From the first line alone; undefined when that is no header. */
async function readHeader(file: string): Promise<TranscriptHeader | undefined> {
  const input = createReadStream(file);
  try {
    for await (const line of createInterface({ input })) {
      const parsed = parseTranscriptLine(line);
      return parsed.kind === "header" ? parsed.header : undefined;
    }
    return undefined;
  } finally {
    input.destroy();
  }
}

/** By its checkpoint, where one fits. Throws as `readTranscript` does. */
async function readBranch(
  file: string,
): Promise<{ header: TranscriptHeader; branch: TranscriptEntry[] }> {
  const late = await loadLate(file);
  return late === undefined
    ? readTranscript(file)
    : { header: late.checkpoint.header, branch: late.branch };
}

/** What a checkpoint would save is saved by reading only the end, too. */
async function readPage(
  { file, bytes }: SessionSummary,
  limit: number,
  largeBytes: number,
): Promise<Pick<SessionPage, "header" | "entries" | "totalEntries">> {
  let shown = 0;
  const isEnough = (entry: TranscriptEntry) => {
    if (shownEntry(entry) !== undefined) shown++;
    return shown >= limit;
  };
  const end = bytes < largeBytes ? undefined : await readEnd(file, isEnough);
  if (end === undefined) {
    const { header, branch } = await readBranch(file);
    return { header, entries: shownEntries(branch, limit), totalEntries: branch.length };
  }
  const { header, entries, isWhole } = end;
  return {
    header,
    entries: shownEntries(entries, limit),
    totalEntries: isWhole ? entries.length : null,
  };
}

/** What cannot be read now is told by reading it whole. */
const readEnd = (file: string, isEnough: (entry: TranscriptEntry) => boolean) =>
  readNewest(file, isEnough).catch(() => undefined);

/**
 * Reads a transcript file of any version without changing it. Throws
 * FILE_NOT_FOUND, TRANSCRIPT_UNREADABLE.
 */
export async function readTranscript(
  file: string,
): Promise<{ header: TranscriptHeader; branch: TranscriptEntry[]; unreadableLines: number[] }> {
  const parsed = await readSessionFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw fileNotFound(file, error);
    if (error.code !== "EISDIR") throw storageFailed(`${file} cannot be read`, error);
    throw new ContextEngineError(
      "TRANSCRIPT_UNREADABLE",
      `${file} cannot be read: it is a folder; name a session file.`,
      { cause: error },
    );
  });
  if (parsed.kind === "transcript") {
    const { header, entries, unreadableLines } = parsed.content;
    return { header, branch: activeBranch(entries), unreadableLines };
  }
  const why = parsed.kind === "empty" ? "it is empty" : parsed.reason;
  throw new ContextEngineError(
    "TRANSCRIPT_UNREADABLE",
    `${file} is not a session transcript: ${why}; name a .jsonl file that starts with a session header.`,
  );
}

async function findSessionId(
  home: string,
  { agentId, key }: SessionName,
): Promise<string | undefined> {
  const stored = await readIndex(home, agentId);
  const known = stored?.[key]?.sessionId;
  if (known !== undefined) return known;
  const completed = await completeIndex(home, agentId, stored ?? {});
  if (Object.keys(completed).length > Object.keys(stored ?? {}).length)
    await writeIndex(home, agentId, completed);
  return completed[key]?.sessionId;
}

async function registerSession(home: string, { agentId, key }: SessionName): Promise<string> {
  // Another process may have named the session while we waited.
  const { after } = await changeIndex(home, agentId, async (index) => ({
    ...index,
    [key]: index[key] ?? { sessionId: randomUUID() },
  }));
  return after[key]!.sessionId;
}

/**
 * One change of an agent's index at a time, across processes; nothing is written when `change`
 * gives back the index itself.
 */
async function changeIndex(
  home: string,
  agentId: string,
  change: (index: SessionIndex) => Promise<SessionIndex>,
): Promise<{ before: SessionIndex; after: SessionIndex }> {
  const { sessions, index: file } = agentPaths(home, agentId);
  await mkdir(sessions, { recursive: true, mode: 0o700 });
  const lock = await waitForLock(`${file}.lock`);
  try {
    const before = (await readIndex(home, agentId)) ?? {};
    const after = await change(before);
    if (after !== before) await writeIndex(home, agentId, after);
    return { before, after };
  } finally {
    await lock.release();
  }
}

/** The index is locked for a moment only, so waiting is right. */
async function waitForLock(file: string): Promise<Lock> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const outcome = await acquireLock(file);
    if (outcome.held) return outcome.lock;
    await setTimeout(10);
  }
  throw new ContextEngineError(
    "SESSION_LOCKED",
    `The session index stayed locked by ${file}; delete that file if no other Clew is running.`,
  );
}

export async function listAgents(home: string): Promise<string[]> {
  try {
    const entries = await readdir(join(home, "agents"), { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && isSafeId(entry.name))
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

async function listAgentSessions(home: string, agentId: string): Promise<SessionSummary[]> {
  const index = await completeIndex(home, agentId, (await readIndex(home, agentId)) ?? {});
  const summaries = await Promise.all(
    Object.entries(index).map(([key, { sessionId }]) => summarize(home, agentId, key, sessionId)),
  );
  return summaries.filter((summary) => summary !== null);
}

/** Null when the key has no transcript yet. */
async function summarize(
  home: string,
  agentId: string,
  key: string,
  sessionId: string,
): Promise<SessionSummary | null> {
  const file = transcriptFile(home, agentId, sessionId);
  const found = await stat(file).catch(() => null);
  return found === null || found.size === 0
    ? null
    : { key, agentId, sessionId, file, bytes: found.size, updatedAt: found.mtime.toISOString() };
}
