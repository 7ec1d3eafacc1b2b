// Reads a session from its file as it stands, whoever writes it.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  activeBranch,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import { fileNotFound } from "../file-not-found.ts";
import { storageFailed } from "../storage-error.ts";
import { loadLate } from "./load-late.ts";
import { type FileContent, readSessionFile } from "./read-file.ts";
import { readNewest } from "./read-newest.ts";
import { readShort } from "./read-short.ts";
import { type ShownEntry, shownEntries, shownEntry } from "./shown.ts";

/** The newest entries of a transcript. */
export interface TranscriptPage {
  header: TranscriptHeader;
  /** Those that may be shown, as they are shown, oldest first. */
  entries: ShownEntry[];
  /** Of the active branch, shown or not; null = its beginning was not read. */
  totalEntries: number | null;
}

/**
 * Reads a transcript file of any version without changing it; of a large one, long texts when they
 * are asked for. Throws FILE_NOT_FOUND, TRANSCRIPT_UNREADABLE.
 */
export async function readTranscript(
  file: string,
): Promise<{ header: TranscriptHeader; branch: TranscriptEntry[]; unreadableLines: number[] }> {
  const { header, entries, unreadableLines } = await readContent(file);
  return { header, branch: activeBranch(entries), unreadableLines };
}

/** Those of every branch, in file order. Throws as `readTranscript` does. */
export const readAllEntries = async (file: string): Promise<TranscriptEntry[]> =>
  (await readContent(file)).entries;

async function readContent(file: string): Promise<FileContent> {
  const onEntry = (await readShort(file))?.onEntry;
  const parsed = await readSessionFile(file, { onEntry }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw fileNotFound(file, error);
    if (error.code !== "EISDIR") throw storageFailed(`${file} cannot be read`, error);
    throw new ContextEngineError(
      "TRANSCRIPT_UNREADABLE",
      `${file} cannot be read: it is a folder; name a session file.`,
      { cause: error },
    );
  });
  if (parsed.kind === "transcript") return parsed.content;
  const why = parsed.kind === "empty" ? "it is empty" : parsed.reason;
  throw new ContextEngineError(
    "TRANSCRIPT_UNREADABLE",
    `${file} is not a session transcript: ${why}; name a .jsonl file that starts with a session header.`,
  );
}

/** By its checkpoint, where one fits. Throws as `readTranscript` does. */
export async function readBranch(
  file: string,
): Promise<{ header: TranscriptHeader; branch: TranscriptEntry[] }> {
  const late = await loadLate(file);
  return late === undefined
    ? readTranscript(file)
    : { header: late.checkpoint.header, branch: late.branch };
}

/** What a checkpoint would save is saved by reading only the end, too. */
export async function readPage(
  { file, bytes }: { file: string; bytes: number },
  limit: number,
  largeBytes: number,
): Promise<TranscriptPage> {
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
