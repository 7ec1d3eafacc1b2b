// Reads a session file, and mends first what is not in order.
import { open as openFile, readFile, truncate } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  placeEntry,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import { lookWhileReading } from "@clew/transcript-policy/session-file";
import { writeOwn } from "../home/own-writes.ts";
import { storageFailed } from "../storage-error.ts";
import type { LinePlace } from "./checkpoint-lines.ts";
import { keepBeside } from "./durable-file.ts";
import { formatEntries, formatHeader } from "./entry-lines.ts";
import { readFilePart } from "./file-lines.ts";
import type { SessionNote } from "./notes.ts";
import {
  type FileContent,
  type ReadOptions,
  type ReadOutcome,
  readSessionFile,
} from "./read-file.ts";
import { repairFile } from "./repair.ts";

/** What a session file holds, once it is in order. */
export interface MendedFile {
  /** Undefined: there is no session yet. */
  header: TranscriptHeader | undefined;
  /** Bytes. */
  size: number;
  /** What had to be done, for the log. */
  notes: SessionNote[];
  /** In file order. */
  entries: TranscriptEntry[];
  /**
   * Where each stands, in the same order; undefined when not every line is an entry
   * that is in order: nobody may rely on it without reading it again then.
   */
  places: readonly LinePlace[] | undefined;
}

/**
 * Reads a session file, mended. One order: first the repair, since what looks like an interrupted
 * write may hold entries that can be read; then what an interrupted write left, and older versions.
 * Of those a line's number means something, so they are brought to the current one before. Loses
 * nothing: what is cut off or taken out is kept beside it. `onEntry` as in `readSessionFile`.
 */
export async function readMended(
  file: string,
  { onEntry }: Pick<ReadOptions, "onEntry"> = {},
): Promise<MendedFile> {
  const look = await lookWhileReading(file);
  const found = await readIfThere(file, { look, onEntry });
  const isOlder = found.kind === "transcript" && found.content.version < TRANSCRIPT_VERSION;
  const migrated = isOlder ? await mend(file, found) : undefined;
  const { note, changed } = await repairFile(file, isOlder ? undefined : look);
  const notes = note === undefined ? [] : [note];
  if (!changed) {
    const loaded = migrated ?? (await mend(file, found));
    // What could not be repaired is to be tried again at the next opening.
    const places = note === undefined ? loaded.places : undefined;
    return { ...loaded, places, notes: [...loaded.notes, ...notes] };
  }
  const earlier = migrated?.notes.filter(({ kind }) => kind !== "unreadable-lines") ?? [];
  const again = await mend(file, await readIfThere(file, { onEntry }));
  return { ...again, notes: [...earlier, ...notes, ...again.notes] };
}

/**
 * The lines: an interrupted write cut off, an older version brought to the current one, a
 * missing line feed added.
 */
async function mend(file: string, found: ReadOutcome): Promise<MendedFile> {
  switch (found.kind) {
    case "not-a-transcript":
      throw new ContextEngineError(
        "TRANSCRIPT_UNREADABLE",
        `${file} is not a session transcript: ${found.reason}; move it away or name another session.`,
      );
    case "empty": {
      const notes = await setAside(file, { from: 0, to: found.fileBytes });
      return { header: undefined, entries: [], places: [], size: 0, notes };
    }
    case "transcript": {
      const { content, fileBytes } = found;
      const { header, entries, goodBytes } = content;
      const notes = [
        ...(await setAside(file, { from: goodBytes, to: fileBytes })),
        ...unreadableNote(content),
      ];
      if (content.version < TRANSCRIPT_VERSION)
        return { header, ...(await replaceMigrated(file, content, notes)) };
      const size = content.missingNewline ? await endLine(file, goodBytes) : goodBytes;
      const places = content.missingNewline ? undefined : content.places;
      return { header, entries, places, size, notes };
    }
  }
}

function unreadableNote({ unreadableLines }: FileContent): SessionNote[] {
  return unreadableLines.length > 0 ? [{ kind: "unreadable-lines", lines: unreadableLines }] : [];
}

/** Cuts the file at `from`; what was behind is durable in a file of its own first. */
async function setAside(
  file: string,
  { from, to }: { from: number; to: number },
): Promise<SessionNote[]> {
  if (from === to) return [];
  const torn = await readFilePart(file, from, to);
  const keptIn = await keepBeside(file, "torn", torn);
  await truncate(file, from);
  return [{ kind: "torn-tail", bytes: torn.length, keptIn }];
}

async function endLine(file: string, size: number): Promise<number> {
  const handle = await openFile(file, "r+");
  try {
    await handle.write("\n", size);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  return size + 1;
}

/**
 * The file in the current version, with the original beside it: appended entries must
 * find their parents by id.
 */
async function replaceMigrated(
  file: string,
  { header, entries: read, version }: FileContent,
  notes: SessionNote[],
) {
  const original = `${file}.v${version}`;
  const entries = read.map((entry) => placeEntry(entry, entry));
  await writeOwn(original, await readFile(file));
  const text = formatHeader(header) + formatEntries(entries).join("");
  await writeOwn(file, text);
  return {
    entries,
    places: undefined,
    size: Buffer.byteLength(text),
    notes: [...notes, { kind: "migrated", fromVersion: version, original } satisfies SessionNote],
  };
}

async function readIfThere(file: string, options: ReadOptions): Promise<ReadOutcome> {
  try {
    return await readSessionFile(file, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { fileBytes: 0, kind: "empty" };
    throw storageFailed(`The session file ${file} cannot be read`, error);
  }
}
