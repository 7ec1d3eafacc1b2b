// Reads a session file's text and reports every line that is no entry.

import { isRecord } from "../is-record.ts";
import {
  type TranscriptEntry,
  TranscriptEntrySchema,
  type TranscriptHeader,
  TranscriptHeaderSchema,
} from "./entries.ts";
import { isOlder, migrateTranscript } from "./migrate.ts";

type FileRecord = Record<string, unknown>;

/** What a line is; "bad" says why it is nothing else. */
export type ParsedLine =
  | { kind: "header"; header: TranscriptHeader }
  | { kind: "entry"; entry: TranscriptEntry }
  | { kind: "blank" }
  | { kind: "bad"; reason: string };

/** A line that holds no entry of a known shape. */
export interface BadLine {
  /** Counts from 1. */
  line: number;
  /** Why, without quoting the line. */
  reason: string;
}

/** A session file as it was read; what could not be is told, not dropped. */
export interface ParsedTranscript {
  /**
   * Undefined when the first line is no session header: then the text is no transcript
   * and there are no entries.
   */
  header: TranscriptHeader | undefined;
  /** Of the current version, in file order. */
  entries: TranscriptEntry[];
  /** In file order; reading goes on behind each. */
  badLines: BadLine[];
  /**
   * True when the last line has no line feed and is no whole record: an append that was
   * interrupted. It is not among `badLines`.
   */
  torn: boolean;
  /** True when the text was of an older version. */
  migrated: boolean;
}

/** What one line of a file of the current version is. */
export function parseTranscriptLine(line: string): ParsedLine {
  if (line.trim() === "") return { kind: "blank" };
  const record = toRecord(line);
  if (record === undefined) return { kind: "bad", reason: "not a JSON object" };
  if (record.type === "session") {
    const header = TranscriptHeaderSchema.safeParse(record);
    return header.success
      ? { kind: "header", header: header.data as TranscriptHeader }
      : { kind: "bad", reason: "not a valid session header" };
  }
  return isEntry(record)
    ? { kind: "entry", entry: record }
    : { kind: "bad", reason: describeFault(record) };
}

/**
 * Reads a whole file of any version (spec "compaction" §2.9). Nothing is guessed away: a bad line
 * is reported and its place in the tree is kept where its ids can be read, so that what came before
 * it stays on the branch; an entry whose parent was lost, or that has none behind a line without a
 * place, follows the entry before.
 * @example
 * ```ts
 * import { activeBranch, buildContext, parseTranscript } from "@clew/plugin-sdk/transcript";
 *
 * const timestamp = "2026-01-01T00:00:00.000Z";
 * const message = { role: "user", content: "Hi" };
 * const file = [
 *   JSON.stringify({ type: "session", version: 3, id: "s", timestamp, cwd: "" }),
 *   JSON.stringify({ type: "message", id: "a", parentId: null, timestamp, message }),
 *   '{"type":"mess\n',
 * ].join("\n");
 * const { entries, badLines } = parseTranscript(file);
 * console.log(buildContext(activeBranch(entries)).items);
 * console.log(badLines);
 * ```
 *
 * ```text
 * [
 *   {
 *     entryId: 'a',
 *     id: 'a',
 *     message: { role: 'user', content: 'Hi', __openclaw: [Object] }
 *   }
 * ]
 * [ { line: 3, reason: 'not a JSON object' } ]
 * ```
 */
export function parseTranscript(text: string): ParsedTranscript {
  const lines = text.split("\n");
  const reader = createTranscriptReader();
  const unfinished = lines.pop()!;
  for (const line of lines) reader.add(line);
  return reader.end(unfinished);
}

/** Reads a session file line by line, for files that are too long to be read at once. */
export interface TranscriptReader {
  /**
   * The next line, without its line feed. Gives its entry where that is known at once; a file of an
   * older version is understood only as a whole. `parsed`: what a long one is as JSON, parsed while
   * others had their turn; undefined in there = it is none.
   */
  add(line: string, parsed?: { value: unknown }): TranscriptEntry | undefined;
  /** What follows the last line feed, or nothing; then what all lines came to. Called once. */
  end(unfinished?: string): ParsedTranscript;
}

/** What `parseTranscript` does, a line at a time; see there. */
export function createTranscriptReader(): TranscriptReader {
  const badLines: BadLine[] = [];
  const entries: TranscriptEntry[] = [];
  const ids = new Set<string>();
  /** Of an older version, until all of them are there. */
  const older: NumberedRecord[] = [];
  let header: TranscriptHeader | undefined;
  /** Entries without a parent that stand behind a line without a place in the tree. */
  const cutOff = new Set<TranscriptEntry>();
  let isBehindGap = false;
  let isOrderly = true;
  let line = 0;

  const take = (number: number, original: FileRecord | undefined, record: FileRecord) => {
    const entry = original !== undefined && isEntry(record) ? record : undefined;
    if (entry === undefined)
      badLines.push({
        line: number,
        reason: original === undefined ? "not a JSON object" : describeFault(record),
      });
    const placed = entry ?? placeholderFor(record);
    if (placed === undefined) {
      isBehindGap = true;
      return undefined;
    }
    if (isBehindGap && placed.parentId === null && entries.length > 0) cutOff.add(placed);
    isBehindGap = false;
    isOrderly &&= placed.parentId === null || ids.has(placed.parentId);
    ids.add(placed.id);
    entries.push(placed);
    return entry;
  };
  const add = (text: string, parsed?: { value: unknown }) => {
    line++;
    if (line === 1) {
      const first = parseTranscriptLine(text);
      if (first.kind === "header") header = first.header;
      else if (first.kind !== "blank") badLines.push({ line, reason: "not a session header" });
      return undefined;
    }
    if (header === undefined || text.trim() === "") return undefined;
    const record = parsed === undefined ? toRecord(text) : asRecord(parsed.value);
    if (!isOlder(header)) return take(line, record, record ?? UNREADABLE);
    older.push({ line, record });
    return undefined;
  };
  return {
    add,
    end(unfinished = "") {
      const torn = unfinished.trim() !== "" && toRecord(unfinished) === undefined;
      if (!torn) add(unfinished);
      if (header === undefined) return { header, entries: [], badLines, torn, migrated: false };
      // Unreadable lines go along: version 1 points at entries by their place in the file.
      const moved = migrateTranscript(
        header,
        older.map(({ record }) => record ?? UNREADABLE),
      );
      for (const [index, record] of moved.entries.entries())
        take(older[index]!.line, older[index]!.record, record);
      return {
        header: moved.header,
        // Also without a bad line: a repair, ours or another program's, may have taken it out.
        entries: isOrderly && cutOff.size === 0 ? entries : bridgeGaps(entries, cutOff),
        badLines,
        torn,
        migrated: moved.migrated,
      };
    },
  };
}

interface NumberedRecord {
  line: number;
  record: FileRecord | undefined;
}

const UNREADABLE: FileRecord = { type: "unreadable" };

function toRecord(line: string): FileRecord | undefined {
  try {
    return asRecord(JSON.parse(line));
  } catch {
    return undefined;
  }
}

const asRecord = (value: unknown) => (isRecord(value) ? (value as FileRecord) : undefined);

/** Checked, but kept as it is: unknown keys belong to whoever wrote them. */
function isEntry(record: unknown): record is TranscriptEntry {
  return TranscriptEntrySchema.safeParse(record).success;
}

function describeFault(record: FileRecord): string {
  const fault = TranscriptEntrySchema.safeParse(record).error?.issues[0];
  const where = fault === undefined || fault.path.length === 0 ? "type" : fault.path.join(".");
  return `not an entry of a known kind: ${where} is missing or invalid`;
}

/** Keeps the place of an entry we cannot read in the tree. */
function placeholderFor({ id, parentId, timestamp }: FileRecord): TranscriptEntry | undefined {
  if (typeof id !== "string" || id === "" || (parentId !== null && typeof parentId !== "string"))
    return undefined;
  return {
    type: "custom",
    customType: "clew.unreadable",
    id,
    parentId,
    timestamp: typeof timestamp === "string" ? timestamp : "",
  };
}

/** `cutOff`: whoever wrote the line before them no longer knew where the branch was. */
function bridgeGaps(
  entries: readonly TranscriptEntry[],
  cutOff: ReadonlySet<TranscriptEntry>,
): TranscriptEntry[] {
  const ids = new Set(entries.map(({ id }) => id));
  return entries.map((entry, index) =>
    !cutOff.has(entry) && (entry.parentId === null || ids.has(entry.parentId))
      ? entry
      : { ...entry, parentId: entries[index - 1]?.id ?? null },
  );
}
