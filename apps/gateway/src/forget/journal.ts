// Notes what is being forgotten for whoever succeeds a killed process.
import { rm } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { z } from "zod";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import { journalFile } from "./journal-file.ts";
import { readIfThere } from "./transcripts.ts";

export const JournalSchema = z.object({
  v: z.literal(1),
  /** By database file: numbers of messages, and sessions whose names go. */
  databases: z.array(
    z.object({
      file: z.string(),
      numbers: z.array(z.number().int()),
      /** Of which words of a model go. */
      summaries: z.array(z.number().int()).default([]),
      /** Records that quote it. */
      records: z.array(z.number().int()).default([]),
      /** What other files tell, by hashes in hexadecimal; see `Graves`. */
      graves: z.array(z.object({ salt: z.string(), hashes: z.array(z.string()) })).default([]),
      sessions: z.array(
        z.object({ sessionId: z.string(), sessionKey: z.string(), owner: z.string() }),
      ),
    }),
  ),
  /** See `TranscriptChange`. */
  transcripts: z.array(
    z.object({
      agentId: z.string(),
      sessionId: z.string(),
      entries: z.array(z.string()).nullable(),
    }),
  ),
  /** Copies of databases that go. */
  backups: z.array(z.string()),
});

/** Where everything stands that goes; no word of it. */
export type Journal = z.infer<typeof JournalSchema>;

/** Null: nothing is being forgotten. Throws STORAGE_FAILED where nobody can read it. */
export async function readJournal(home: string): Promise<Journal | null> {
  const file = journalFile(home);
  const text = await readIfThere(file);
  if (text === "") return null;
  try {
    return JournalSchema.parse(fromJson(text));
  } catch (cause) {
    throw new ContextEngineError(
      "STORAGE_FAILED",
      `${file} says what was being forgotten when a process ended, and cannot be read; delete it, and ask again for what is to be forgotten.`,
      { cause },
    );
  }
}

export const writeJournal = (home: string, journal: Journal): Promise<void> =>
  writeOwn(journalFile(home), `${toJson(journal)}\n`);

export const removeJournal = (home: string): Promise<void> =>
  rm(journalFile(home), { force: true });
