// Writes an imported session beside the others and puts it in its place, or not at all.
import { createHash, randomUUID } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { type FileHandle, lstat, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import { makeOwnFolder } from "../home/no-links.ts";
import { acquireLock, type Lock } from "../locks/lock.ts";
import { underLock } from "../locks/wait-for-lock.ts";
import { changeIndex, findSessionId } from "../sessions/change-index.ts";
import { formatEntries, formatHeader } from "../sessions/entry-lines.ts";
import { type SessionName, shortName } from "../sessions/keys.ts";
import { requireNewName } from "../sessions/name-errors.ts";
import { transcriptFile } from "../sessions/paths.ts";
import { readAllEntries } from "../sessions/read-transcript.ts";
import { storageFailed } from "../storage-error.ts";
import { draftOf, lockOfDraft, lockOfSession, removeAbandoned } from "./draft-files.ts";
import type { FoundSession } from "./foreign.ts";
import { heard, type Said, SILENCE } from "./plan-session.ts";

export interface StoredSession {
  /** "known": all of it was there. */
  state: "imported" | "grown" | "known";
  sessionId: string;
  /** Entries that were not there before. */
  added: number;
  said: Said;
}

export interface SessionDraft {
  /** Messages until now. */
  messages(): number;
  add(entry: TranscriptEntry): Promise<void>;
  /**
   * Undefined when the session was made by somebody else since the draft was opened: what is in it
   * is to be compared anew. Throws SESSION_LOCKED while somebody has the session open,
   * REQUEST_INVALID when it holds anything else, and leaves it as it is then.
   */
  keep(): Promise<StoredSession | undefined>;
  /** Nothing of it stays. */
  drop(): Promise<void>;
}

const PIECE_CHARS = 2 ** 20;

export async function openDraft(
  home: string,
  name: SessionName,
  found: FoundSession,
): Promise<SessionDraft> {
  const { agentId, key } = name;
  const known = await findSessionId(home, name);
  if (known === undefined) requireNewName(name);
  const sessionId = known ?? randomUUID();
  const file = transcriptFile(home, agentId, sessionId);
  const draft = draftOf(file, randomUUID());
  await makeOwnFolder(home, dirname(file));
  await removeAbandoned(dirname(file));
  const running = await lockDraft(draft);
  const create = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const handle = await open(draft, create, 0o600).catch(async (error: unknown) => {
    await running.release();
    throw error;
  });
  const header: TranscriptHeader & { sessionKey: string } = {
    ...{ type: "session", version: TRANSCRIPT_VERSION, id: sessionId },
    ...{ timestamp: found.startedAt, cwd: found.cwd, sessionKey: key },
  };
  const ids = new Set<string>();
  const hash = createHash("sha256");
  let said = SILENCE;
  let text = formatHeader(header);
  const write = async () => {
    hash.update(text);
    await writeText(handle, text);
    text = "";
  };
  const drop = async () => {
    await handle.close();
    await rm(draft, { force: true });
    await running.release();
  };
  const place = {
    file: lockOfSession(dirname(file), key),
    what: `Session ${shortName(key)}`,
    code: "SESSION_LOCKED" as const,
  };
  const putInPlace = async (ours: string) => {
    const outcome = await whileClosed(file, key, async () => {
      const isThere = await isTranscript(file);
      if (isThere && (await hashOfFile(file)) === ours)
        return { state: "known" as const, added: 0 };
      const entries = isThere ? await readAllEntries(file) : [];
      const before = new Set(entries.map(({ id }) => id));
      if ([...before].some((id) => !ids.has(id))) throw holdsMore(name);
      await rename(draft, file);
      const added = ids.size - before.size;
      const state = !isThere ? "imported" : added > 0 ? "grown" : "known";
      return { state, added } as const;
    });
    await syncFolder(dirname(file));
    return outcome;
  };
  return {
    messages: () => said.messages,
    async add(entry) {
      ids.add(entry.id);
      said = heard(said, entry);
      text += formatEntries([entry])[0]!;
      if (text.length > PIECE_CHARS) await write();
    },
    drop,
    async keep() {
      try {
        await write();
        await handle.datasync();
        const ours = hash.digest("hex");
        return await underLock(place, async () => {
          if ((await findSessionId(home, name)) !== known) return undefined;
          const outcome = await putInPlace(ours);
          await changeIndex(home, agentId, async (index) =>
            index[key]?.sessionId === sessionId
              ? index
              : { ...index, [key]: { ...index[key], sessionId } },
          );
          return { ...outcome, sessionId, said };
        });
      } catch (error) {
        throw ContextEngineError.is(error)
          ? error
          : storageFailed(`Session ${key} could not be imported`, error);
      } finally {
        await drop();
      }
    },
  };
}

/** Says to others that the import of this draft runs. */
async function lockDraft(draft: string): Promise<Lock> {
  const outcome = await acquireLock(lockOfDraft(draft));
  if (outcome.held) return outcome.lock;
  throw new Error(`${lockOfDraft(draft)} is somebody else's`);
}

async function writeText(handle: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; )
    done += (await handle.write(bytes, done, bytes.length - done)).bytesWritten;
}

/** While nobody has the session open. */
async function whileClosed<Result>(
  file: string,
  key: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const outcome = await acquireLock(`${file}.lock`);
  if (!outcome.held)
    throw new ContextEngineError(
      "SESSION_LOCKED",
      `Session ${key} is open in process ${outcome.owner?.pid ?? "unknown"} and stays as it is; import it when that process has closed it, or as another session with --session.`,
    );
  try {
    return await work();
  } finally {
    await outcome.lock.release();
  }
}

/** Throws TRANSCRIPT_UNREADABLE for a link, which may lead anywhere. */
async function isTranscript(file: string): Promise<boolean> {
  const found = await lstat(file).catch(() => null);
  if (found === null || (found.isFile() && found.size === 0)) return false;
  if (found.isFile()) return true;
  throw new ContextEngineError(
    "TRANSCRIPT_UNREADABLE",
    `The session file ${file} is no file of its own, and nothing was imported; put the file itself in its place.`,
  );
}

async function hashOfFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  return hash.digest("hex");
}

const holdsMore = ({ key }: SessionName): ContextEngineError =>
  new ContextEngineError(
    "REQUEST_INVALID",
    `Session ${shortName(key)} holds what this file does not, as it is another one or went on here, and stays as it is; name another one with --session.`,
  );

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}
