// Finds what is to be replayed, a file, a session of this home or the demo.
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { activeBranch, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { Environment } from "../config/environment.ts";
import { DEMO_MODEL } from "../demo/demo-place.ts";
import { inventStory } from "../demo/story.ts";
import type { Format } from "../imports/foreign.ts";
import { nobodys } from "../imports/foreign-lines.ts";
import { openForeign } from "../imports/open-foreign.ts";
import { planRecordedTurns, type RecordedTurn } from "../replay/recorded-turns.ts";
import { parseSessionName } from "../sessions/keys.ts";
import type { SessionSummary } from "../sessions/list-sessions.ts";
import { readTranscript } from "../sessions/read-transcript.ts";
import { storedSessions } from "./stored-sessions.ts";

export interface Recording {
  /** For the name of what is made of it. */
  name: string;
  /** Absolute; null = it is invented, and in no file. */
  file: string | null;
  cwd: string;
  turns: readonly RecordedTurn[];
  /** "provider/model" of its newest reply that names one; null = none does. */
  model: string | null;
  /** Numbers of lines that are no entries, counted from 1. */
  unreadableLines: readonly number[];
}

/** What invents the session that `clew demo make` makes. */
export const INVENTED = "demo";

/**
 * A file goes first, of Clew or of another program, then a session. `from`: whose file it is,
 * whatever it looks like. Throws FILE_NOT_FOUND, TRANSCRIPT_UNREADABLE, REQUEST_INVALID.
 */
export async function findRecording(
  named: string,
  environment: Environment,
  { from }: { from?: Format | undefined } = {},
): Promise<Recording> {
  const given = resolve(named);
  if (existsSync(given)) return (await readForeign(given, from)) ?? readOwn(given);
  const session = parseSessionName(named) === undefined ? null : await storedAs(named, environment);
  if (session !== null)
    return { ...(await readRecording(session.file)), name: named.replaceAll(":", "-") };
  if (named === INVENTED) return inventRecording();
  return readRecording(given);
}

/** Of a database a copy is made, which is read then. */
async function storedAs(named: string, environment: Environment): Promise<SessionSummary | null> {
  const { sessions, records } = await storedSessions(environment);
  return records === environment.home ? sessions.find(named) : sessions.read(named);
}

/** Null: it is a session file, or nobody knows what. */
async function readForeign(file: string, from: Format | undefined): Promise<Recording | null> {
  const foreign = await openForeign(file, { from });
  if (foreign === null || foreign.format === "pi" || foreign.format === "openclaw") return null;
  const sessions = new Map<string, TranscriptEntry[]>();
  for await (const { session, entry } of foreign.entries()) {
    const entries = sessions.get(session);
    if (entries === undefined) sessions.set(session, [entry]);
    else entries.push(entry);
  }
  const name = sessions.has("") ? "" : sessions.size === 1 ? [...sessions.keys()][0]! : undefined;
  if (name === undefined && sessions.size > 0) throw severalIn(file, sessions.size);
  const turns = planRecordedTurns(activeBranch(sessions.get(name ?? "") ?? []));
  if (turns.length === 0) throw nothingIn(file, foreign.format, from);
  return {
    ...{ name: basename(file).replace(/\.jsonl?$/i, ""), file, turns, model: modelIn(turns) },
    cwd: name === undefined ? "" : foreign.session(name).cwd,
    unreadableLines: [...foreign.tally.damaged, ...foreign.tally.tooLong],
  };
}

const severalIn = (file: string, count: number): ContextEngineError =>
  new ContextEngineError(
    "REQUEST_INVALID",
    `${file} holds ${count} conversations; import it with "clew sessions import", and name the session that is meant.`,
  );

const nothingIn = (file: string, format: string, from: Format | undefined) =>
  new ContextEngineError(
    "REQUEST_INVALID",
    `${file} holds no turn, read as a transcript of ${format}${from === undefined ? "" : "; without --from it is read as what it looks like"}.`,
  );

/** Throws REQUEST_INVALID where nothing is said in it, TRANSCRIPT_UNREADABLE. */
async function readOwn(file: string): Promise<Recording> {
  const { size } = await stat(file);
  const recording = await readRecording(file).catch((error: unknown) => {
    if (!ContextEngineError.is(error) || error.code !== "TRANSCRIPT_UNREADABLE") throw error;
    throw nobodys(file, { isEmpty: size === 0 });
  });
  if (recording.turns.length === 0) throw nothingIn(file, "a session", undefined);
  return recording;
}

async function readRecording(file: string): Promise<Recording> {
  const { header, branch, unreadableLines } = await readTranscript(file);
  const turns = planRecordedTurns(branch);
  return {
    ...{ name: basename(file, ".jsonl"), file, cwd: header.cwd, unreadableLines },
    ...{ turns, model: modelIn(turns) },
  };
}

function inventRecording(): Recording {
  const { turns } = inventStory(Date.parse("2026-03-01T12:00:00.000Z"));
  const model = DEMO_MODEL;
  return { name: INVENTED, file: null, cwd: process.cwd(), turns, model, unreadableLines: [] };
}

function modelIn(turns: readonly RecordedTurn[]): string | null {
  const replies = turns.flatMap(({ steps }) => steps.map(({ reply }) => reply));
  const named = replies.findLast(({ provider, model }) => provider && model);
  return named === undefined ? null : `${named.provider}/${named.model}`;
}
