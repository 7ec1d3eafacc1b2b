// Forgets what a journal names in steps that may be done again.

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Matcher, openMessageStore } from "@clew/lossless-engine/store";
import { cleanFiles, filesHolding, type LeftFile } from "./clean-files.ts";
import { type Journal, readJournal, removeJournal, writeJournal } from "./journal.ts";
import { forgetInPrograms } from "./programs.ts";
import { forgetReports, removeNames } from "./session-traces.ts";
import { type Traces, tracesOf } from "./traces.ts";
import { changeTranscript, type TranscriptChange, wordsThatGo } from "./transcripts.ts";

/** What forgetting came to. */
export interface Forgotten {
  /** Messages that the databases hold no more. */
  readonly messages: number;
  /** Files below the home that hold some of it still, and are not the gateway's to change. */
  readonly leftIn: readonly LeftFile[];
}

/** How words are forgotten. */
export interface ForgettingOptions {
  /** The text that was asked for. Absent: none was, or nobody knows it any more. */
  readonly matcher?: Matcher | null;
  /** Files of databases and copies that were looked into as such. Absent: the journal's. */
  readonly except?: ReadonlySet<string> | undefined;
  /** What was forgotten in a database besides. Absent: nothing. */
  readonly elsewhere?: readonly string[] | undefined;
  /** Told after each step. Absent: nobody is. */
  readonly onStep?: () => void;
}

/** Throws SESSION_LOCKED, STORAGE_FAILED; then `resumeForgetting` goes on. */
export async function runForgetting(
  home: string,
  journal: Journal,
  { matcher = null, except, elsewhere, onStep = () => {} }: ForgettingOptions = {},
): Promise<Forgotten> {
  await writeJournal(home, journal);
  onStep();
  const holds = await tracesOfJournal(home, journal, { matcher, elsewhere });
  // Shadow engines hold copies of all that was said, in files of whatever kind, and begin anew.
  await rm(join(home, "shadow"), { recursive: true, force: true });
  await forgetInPrograms(home, holds);
  await cleanFiles(home, holds);
  onStep();
  for (const file of journal.backups) await removeDatabase(file);
  for (const change of journal.transcripts) {
    await changeTranscript(home, change);
    onStep();
  }
  for (const [agentId, changes] of byAgent(journal)) {
    await forgetReports(home, agentId, changes);
    await forgetNames(home, agentId, journal);
    onStep();
  }
  let messages = 0;
  for (const { file, graves, ...database } of journal.databases) {
    if (!existsSync(file)) continue;
    const store = openMessageStore(file);
    try {
      const known = graves.map(({ salt, hashes }) => ({
        ...{ salt: Buffer.from(salt, "hex"), hashes: new Set(hashes) },
      }));
      const done = await store.forget({ ...database, graves: known });
      messages += done.forgotten;
    } finally {
      store.close();
    }
    onStep();
  }
  await removeJournal(home);
  const databases = new Set(journal.databases.map(({ file }) => file));
  const { left: leftIn } = await filesHolding(home, {
    ...{ holds, except: except ?? databases, text: matcher },
    changes: () => undefined,
  });
  return { messages, leftIn };
}

/** Goes on where a process was killed. Null: nothing was being forgotten. */
export async function resumeForgetting(home: string): Promise<Forgotten | null> {
  const journal = await readJournal(home);
  return journal && runForgetting(home, journal);
}

/** Databases are changed last: until then they tell what is looked for. */
async function tracesOfJournal(
  home: string,
  { databases, transcripts }: Journal,
  { matcher = null, elsewhere = [] }: Pick<ForgettingOptions, "matcher" | "elsewhere">,
): Promise<Traces> {
  const texts = [...elsewhere, ...(await wordsThatGo(home, transcripts))];
  for (const { file, numbers } of databases) {
    if (!existsSync(file)) continue;
    const store = openMessageStore(file);
    try {
      texts.push(...(await store.textsOf(numbers)));
    } finally {
      store.close();
    }
  }
  return tracesOf(texts, matcher);
}

async function removeDatabase(file: string): Promise<void> {
  for (const suffix of ["-wal", "-shm", ""]) await rm(`${file}${suffix}`, { force: true });
}

function byAgent({ transcripts }: Journal): Map<string, TranscriptChange[]> {
  const changes = new Map<string, TranscriptChange[]>();
  for (const change of transcripts)
    changes.set(change.agentId, [...(changes.get(change.agentId) ?? []), change]);
  return changes;
}

/** Of sessions that go whole. */
async function forgetNames(home: string, agentId: string, { transcripts, databases }: Journal) {
  const sessionIds = new Set(
    transcripts
      .filter((change) => change.agentId === agentId && change.entries === null)
      .map(({ sessionId }) => sessionId),
  );
  const keys = databases.flatMap(({ sessions }) => sessions.map(({ sessionKey }) => sessionKey));
  if (sessionIds.size > 0) await removeNames(home, agentId, { sessionIds, keys });
}
