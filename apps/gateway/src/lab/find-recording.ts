// Finds what is to be replayed, a file, a session of this home or the demo.
import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { DEMO_MODEL } from "../demo/demo-place.ts";
import { inventStory } from "../demo/story.ts";
import { planRecordedTurns, type RecordedTurn } from "../replay/recorded-turns.ts";
import { parseSessionName } from "../sessions/keys.ts";
import { readTranscript } from "../sessions/read-transcript.ts";
import { createSessionStore } from "../sessions/store.ts";

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

/** A file goes first, then a session. Throws FILE_NOT_FOUND, TRANSCRIPT_UNREADABLE. */
export async function findRecording(named: string, { home }: { home: string }): Promise<Recording> {
  const given = resolve(named);
  if (existsSync(given)) return readRecording(given);
  const session =
    parseSessionName(named) === undefined ? null : await createSessionStore({ home }).find(named);
  if (session !== null)
    return { ...(await readRecording(session.file)), name: named.replaceAll(":", "-") };
  if (named === INVENTED) return inventRecording();
  return readRecording(given);
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
