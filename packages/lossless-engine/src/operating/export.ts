// Writes conversations of a database as session files that other programs read.

import { createHash } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { TRANSCRIPT_VERSION } from "@clew/plugin-sdk/transcript";
import { storageFailure } from "../store/failure.ts";
import { makeFolder } from "../store/make-folder.ts";
import type { Snapshot } from "../store/snapshot.ts";
import type { Store } from "../store/store.ts";
import { conversationsIn, messagesOf, type ToldConversation } from "../store/transcripts.ts";
import { othersTurn } from "../turns.ts";
import { counted } from "./describe-store.ts";
import type { OperatingOptions } from "./progress.ts";
import { idOf, type LineMessage, lineOf, MARKS, startsHeartbeat } from "./session-lines.ts";

/** What is to be written, and where. */
export interface ExportOptions extends OperatingOptions {
  /** Folder of the files, which is made. None of them may be there. */
  readonly folder: string;
  /** Keys or ids of sessions. Absent: all of them. */
  readonly sessions?: readonly string[] | undefined;
}

/** A file that was written. */
export interface ExportedFile {
  /** Its path. */
  readonly file: string;
  /** Of the transcript that began it. */
  readonly sessionId: string;
  /** "": its host named none. */
  readonly sessionKey: string;
  /** How many it holds. */
  readonly messages: number;
}

/** What was written. */
export interface Exported {
  /** In the order in which their conversations began. */
  readonly files: readonly ExportedFile[];
  /** Numbers of messages that cannot be read, and are in no file. */
  readonly unreadable: readonly number[];
  /** All of it for people. */
  readonly text: string;
}

/** One moment of the database. A file is there when all of it is. */
export async function exportSessions(store: Store, options: ExportOptions): Promise<Exported> {
  const { folder: named, sessions, onProgress, signal } = options;
  const folder = resolve(named);
  const snapshot = store.snapshot();
  try {
    const all = conversationsIn(snapshot);
    const chosen = all.filter((each) => sessions === undefined || isOf(each, sessions));
    if (sessions !== undefined && chosen.length === 0)
      throw new ContextEngineError(
        "SESSION_NOT_FOUND",
        `Nothing of a session ${JSON.stringify(sessions[0])} is stored in ${store.path}; name its key or its id.`,
      );
    const plan = planFiles(chosen, folder);
    for (const { file } of plan) refuseThere(file);
    makeFolder(folder);
    const [files, unreadable]: [ExportedFile[], number[]] = [[], []];
    const of = chosen.reduce((sum, { messages }) => sum + messages, 0);
    let done = 0;
    for (const { file, conversation } of plan) {
      const written = await writeFile(snapshot, file, conversation, {
        signal,
        onMessages: (count) => onProgress?.({ part: "writing messages", done: done + count, of }),
      });
      done += written.messages;
      unreadable.push(...written.unreadable);
      const { sessionId, sessionKey } = firstOf(conversation);
      files.push({ file, sessionId, sessionKey, messages: written.messages });
    }
    return { files, unreadable, text: describe(store.path, folder, files, unreadable) };
  } catch (error) {
    throw storageFailure(folder, error);
  } finally {
    snapshot.close();
  }
}

/** The transcript that a file is named for. A conversation without any names itself. */
function firstOf({ conversation, transcripts: [first] }: ToldConversation) {
  const { sessionId = `conversation-${conversation}`, sessionKey = "" } = first ?? {};
  return { sessionId: idOf(sessionId), sessionKey: idOf(sessionKey) };
}

const isOf = ({ transcripts }: ToldConversation, sessions: readonly string[]) =>
  transcripts.some((each) =>
    [each.sessionId, each.sessionKey].some((name) => sessions.includes(idOf(name))),
  );

const PLAIN_NAME = /^(?!\.)[\w.-]{1,100}$/;

/** Pure. Named for its session, or for a hash where that is no name or not the only one. */
function planFiles(conversations: readonly ToldConversation[], folder: string) {
  const taken = new Set<string>();
  return conversations.map((conversation) => {
    const { sessionId, sessionKey } = firstOf(conversation);
    const plain = PLAIN_NAME.test(sessionId) ? sessionId : hashOf(sessionId);
    // Some file systems do not tell cases apart.
    const isTaken = taken.has(plain.toLowerCase());
    const { owner = "" } = conversation.transcripts[0] ?? {};
    const name = isTaken
      ? `${plain}-${hashOf(JSON.stringify([sessionId, sessionKey, owner]))}`
      : plain;
    taken.add(name.toLowerCase());
    return { file: join(folder, `${name}.jsonl`), conversation };
  });
}

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16);

function refuseThere(file: string): void {
  if (existsSync(file))
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `Nothing was exported: ${file} is there already; name another folder.`,
    );
}

/** Messages that are read at once. */
const PAGE = 32;

interface Writing {
  readonly signal: AbortSignal | undefined;
  onMessages(count: number): void;
}

async function writeFile(
  snapshot: Snapshot,
  file: string,
  conversation: ToldConversation,
  { signal, onMessages }: Writing,
): Promise<{ messages: number; unreadable: number[] }> {
  const unfinished = `${file}.unfinished`;
  const handle = await open(unfinished, "w", 0o600);
  try {
    const lines = createLines(conversation);
    const unreadable: number[] = [];
    let messages = 0;
    for (let after = 0; ; ) {
      signal?.throwIfAborted();
      const page = pageOf(snapshot, conversation.conversation, after);
      for (const { seq, stored } of page) {
        after = seq;
        if (stored === undefined) unreadable.push(seq);
        else messages++;
      }
      const known = page.flatMap(({ stored }) => (stored === undefined ? [] : [stored]));
      await writeLines(handle, lines.next(known));
      onMessages(messages);
      if (page.length < PAGE) break;
      await othersTurn();
    }
    await writeLines(handle, lines.end());
    await handle.sync();
    await handle.close();
    await rename(unfinished, file);
    return { messages, unreadable };
  } catch (error) {
    await handle.close().catch(() => {});
    rmSync(unfinished, { force: true });
    throw error;
  }
}

const writeLines = async (handle: FileHandle, lines: readonly object[]) => {
  if (lines.length > 0)
    await handle.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
};

const pageOf = (snapshot: Snapshot, conversation: number, after: number) =>
  messagesOf(snapshot, { conversation, after, limit: PAGE }).map(
    ({ seq, name, message, isDamaged, isHeartbeat = false, isLeft = false, isSeen }) => ({
      seq,
      stored: isDamaged ? undefined : { name, message, isHeartbeat, isLeft, isSeen },
    }),
  );

/** The lines of one file, in order; what was left hangs beside what goes on. */
function createLines(conversation: ToldConversation) {
  const header = headerOf(conversation);
  let isBegun = false;
  let timestamp = "1970-01-01T00:00:00.000Z";
  let [active, newest]: [string | null, string | null] = [null, null];
  let followsHeartbeat = false;
  return {
    next(messages: readonly LineMessage[]): object[] {
      const lines = messages.map((stored) => {
        const parentId = stored.isLeft ? newest : active;
        const line = lineOf(stored, { parentId, timestamp, followsHeartbeat });
        ({ timestamp } = line);
        newest = line.id;
        if (!stored.isLeft) active = line.id;
        followsHeartbeat = startsHeartbeat(stored.message, followsHeartbeat);
        return line;
      });
      if (isBegun) return lines;
      isBegun = true;
      return [header(lines[0]?.timestamp ?? timestamp), ...lines];
    },
    /** The last line says where a session goes on. */
    end: (): object[] =>
      newest === active
        ? []
        : [{ type: "custom", customType: END, id: END, parentId: active, timestamp }],
  };
}

const END = "lossless.end";

function headerOf(conversation: ToldConversation) {
  const { sessionId, sessionKey } = firstOf(conversation);
  const transcripts = conversation.transcripts.slice(1).map((each) => ({
    ...{ sessionId: idOf(each.sessionId), sessionKey: idOf(each.sessionKey) },
  }));
  return (timestamp: string) => ({
    ...{ type: "session", version: TRANSCRIPT_VERSION, id: sessionId, timestamp, cwd: "" },
    ...(sessionKey !== "" && { sessionKey }),
    ...(transcripts.length > 0 && { [MARKS]: { transcripts } }),
  });
}

function describe(
  path: string,
  folder: string,
  files: readonly ExportedFile[],
  unreadable: readonly number[],
): string {
  const messages = files.reduce((sum, each) => sum + each.messages, 0);
  const told = `Exported ${counted(messages, "message")} of ${path} into ${counted(files.length, "session file")} in ${folder}.`;
  return unreadable.length === 0
    ? told
    : `${told}\n${counted(unreadable.length, "message")} cannot be read and ${unreadable.length === 1 ? "is" : "are"} in none: ${unreadable.slice(0, 10).join(", ")}${unreadable.length > 10 ? ", …" : ""}.`;
}
