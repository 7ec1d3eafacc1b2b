// Finds and rewrites the session files that hold what is to be forgotten.
import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type AgentMessage, ContextEngineError, messageId } from "@clew/plugin-sdk/core";
import {
  parseTranscriptLine,
  type TranscriptEntry,
  withMessageId,
} from "@clew/plugin-sdk/transcript";
import { journalFile } from "../door/memory/journal-files.ts";
import { withoutSummaries } from "../door/memory/journal-lines.ts";
import { writeOwn } from "../home/own-writes.ts";
import { acquireLock } from "../locks/lock.ts";
import { toJson } from "../own-json.ts";
import { checkpointFile } from "../sessions/checkpoint.ts";
import { listTranscripts } from "../sessions/index-file.ts";
import { ledgerFile } from "../sessions/ledger-file.ts";
import { listAgents } from "../sessions/list-sessions.ts";
import { agentPaths, transcriptFile } from "../sessions/paths.ts";
import { noteWrite } from "../sessions/writes.ts";
import { planTranscript, type Wanted } from "./plan-transcript.ts";
import { redactEntry } from "./redact-entry.ts";
import { wordsIn } from "./traces.ts";

/** A session file and what of it goes. */
export interface TranscriptChange {
  readonly agentId: string;
  readonly sessionId: string;
  /** Ids of entries whose words go. Null: the whole file goes. */
  readonly entries: readonly string[] | null;
}

/** In every session file of these agents. Null: of all agents of the home. */
export async function planTranscripts(
  home: string,
  agents: readonly string[] | null,
  wanted: Wanted,
): Promise<TranscriptChange[]> {
  const changes: TranscriptChange[] = [];
  for (const agentId of agents ?? (await listAgents(home)))
    for (const sessionId of await listTranscripts(agentPaths(home, agentId).sessions)) {
      const text = await readFile(transcriptFile(home, agentId, sessionId), "utf8");
      const entries = planTranscript(entriesIn(text), wanted);
      if (entries.length > 0) changes.push({ agentId, sessionId, entries });
    }
  return changes;
}

/** The files of a session, those from before its resets too. */
export async function filesOfSession(
  home: string,
  { agentId, key }: { agentId: string; key: string },
  current: string | undefined,
): Promise<TranscriptChange[]> {
  const ids = await listTranscripts(agentPaths(home, agentId).sessions);
  const own: TranscriptChange[] = [];
  for (const sessionId of ids) {
    const text = await readFile(transcriptFile(home, agentId, sessionId), "utf8");
    const parsed = parseTranscriptLine(text.split("\n", 1)[0] ?? "");
    const header = parsed.kind === "header" ? (parsed.header as { sessionKey?: unknown }) : {};
    if (header.sessionKey === key || sessionId === current)
      own.push({ agentId, sessionId, entries: null });
  }
  return own;
}

/** Texts of the entries that go, by which other files are known to hold them. */
export async function entriesThatGo(
  home: string,
  { agentId, sessionId, entries }: TranscriptChange,
): Promise<TranscriptEntry[]> {
  const text = await readIfThere(transcriptFile(home, agentId, sessionId));
  const all = entriesIn(text);
  return entries === null ? all : all.filter(({ id }) => entries.includes(id));
}

/** What session files say that goes. */
export async function wordsThatGo(
  home: string,
  transcripts: readonly TranscriptChange[],
): Promise<string[]> {
  const texts: string[] = [];
  for (const change of transcripts)
    texts.push(...(await entriesThatGo(home, change)).flatMap(wordsIn));
  return texts;
}

/** Of the entries that go, and of their messages: these stay when the words are gone. */
export async function idsThatGo(home: string, change: TranscriptChange): Promise<Set<string>> {
  const entries = await entriesThatGo(home, change);
  const messages = entries.flatMap((entry) =>
    entry.type === "message" ? (messageId(entry.message) ?? []) : [],
  );
  return new Set([...entries.map(({ id }) => id), ...messages]);
}

/**
 * Whole or not at all; once more changes nothing. What can be made again of it is removed. Throws
 * SESSION_LOCKED where another process has the session open.
 */
export async function changeTranscript(
  home: string,
  { agentId, sessionId, entries }: TranscriptChange,
): Promise<void> {
  const file = transcriptFile(home, agentId, sessionId);
  // Of a session that only a database had.
  if (!existsSync(dirname(file))) return;
  const outcome = await acquireLock(`${file}.lock`);
  if (!outcome.held)
    throw new ContextEngineError(
      "SESSION_LOCKED",
      `${file} is open in process ${outcome.owner?.pid ?? "unknown"}, so that what it holds cannot be forgotten; end that process and run clew lossless forget --resume.`,
    );
  try {
    if (entries === null) await removeBeside(file);
    else {
      const text = await readIfThere(file);
      if (text !== "") await writeOwn(file, redacted(text, entries));
      for (const made of [checkpointFile(file), ledgerFile(file)]) await rm(made, { force: true });
      await changeDoorJournal(journalFile(file));
    }
  } finally {
    noteWrite(file);
    await outcome.lock.release();
  }
}

/** Clients have summaries made of all that was said; what else it keeps are hashes and names. */
async function changeDoorJournal(file: string): Promise<void> {
  const text = await readIfThere(file);
  const left = withoutSummaries(text, () => true);
  if (left !== text) await writeOwn(file, left);
}

/** Line by line: what is not forgotten stays to the byte. */
export function redacted(text: string, entries: readonly string[]): string {
  const gone = new Set(entries);
  return text
    .split("\n")
    .map((line) => {
      const parsed = parseTranscriptLine(line);
      if (parsed.kind !== "entry" || !gone.has(parsed.entry.id)) return line;
      return toJson(redactEntry(parsed.entry));
    })
    .join("\n");
}

/** The session file last: as long as it is there, somebody finds it and goes on. */
async function removeBeside(file: string): Promise<void> {
  const name = basename(file);
  const beside = (await readdir(dirname(file)).catch(() => [])).filter(
    (each) => each.startsWith(`${name}.`) && !each.startsWith(`${name}.lock`),
  );
  for (const each of [...beside, name]) await rm(join(dirname(file), each), { force: true });
}

/** The message of an entry, with the id that it is known by. */
export const messageIn = (entry: TranscriptEntry): AgentMessage[] =>
  entry.type === "message"
    ? [withMessageId(entry.message, messageId(entry.message) ?? entry.id)]
    : [];

const entriesIn = (text: string): TranscriptEntry[] =>
  text.split("\n").flatMap((line) => {
    const parsed = parseTranscriptLine(line);
    return parsed.kind === "entry" ? [parsed.entry] : [];
  });

export const readIfThere = (file: string): Promise<string> =>
  readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
