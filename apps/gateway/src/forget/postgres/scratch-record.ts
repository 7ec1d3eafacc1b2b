// Notes what a database had of sessions before something of it was forgotten.
import { readFile } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { z } from "zod";
import { writeOwn } from "../../home/own-writes.ts";
import { fromJson, toJson } from "../../own-json.ts";
import { JournalSchema } from "../journal.ts";
import { scratchRecordFile } from "../scratch-place.ts";

const RecordSchema = z.object({
  v: z.literal(1),
  /** Names the database. */
  clusterId: z.string(),
  /** Those that were looked into. */
  sessions: z.array(
    z.object({
      ...{ agentId: z.string(), sessionId: z.string(), key: z.string(), step: z.number() },
      /** SHA-256 of what the engine had beside it; null: nothing. */
      rows: z.string().nullable(),
    }),
  ),
  /** SHA-256 of all files, by their places. */
  files: z.record(z.string(), z.string()),
  /** What waited, by what its senders called it. */
  waiting: z.array(z.object({ agentId: z.string(), key: z.string(), names: z.array(z.string()) })),
  /** Runs of jobs, by when they were due and began. */
  runs: z.array(
    z.object({
      id: z.string(),
      runs: z.array(z.object({ due: z.number(), startedAt: z.number() })),
    }),
  ),
});

export type ScratchRecord = z.infer<typeof RecordSchema>;

const PutBackSchema = z.object({
  record: RecordSchema,
  /** Sessions that go whole. */
  removed: z.array(z.object({ agentId: z.string(), sessionId: z.string() })),
  /** What goes from the home itself. */
  journal: JournalSchema,
});

/** What is done to a database and a home once all is decided. */
export type PutBack = z.infer<typeof PutBackSchema>;

export const writePutBack = (home: string, putBack: PutBack): Promise<void> =>
  writeOwn(scratchRecordFile(home), `${toJson(putBack)}\n`);

/** Null: there is none. Throws STORAGE_FAILED where nobody can read it. */
export async function readPutBack(home: string): Promise<PutBack | null> {
  const file = scratchRecordFile(home);
  try {
    return PutBackSchema.parse(fromJson(await readFile(file, "utf8")));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new ContextEngineError(
      "STORAGE_FAILED",
      `${file} says what was being forgotten when a process ended, and cannot be read; delete it, and ask again for what is to be forgotten.`,
      { cause },
    );
  }
}
