// What the text of a session file holds: header, entries, what could not be read, and where the last whole line ends.
import {
  migrateTranscript,
  type TranscriptEntry,
  TranscriptEntrySchema,
  type TranscriptHeader,
  TranscriptHeaderSchema,
} from "./transcript-format.ts";

export interface ParsedTranscript {
  header: TranscriptHeader;
  entries: TranscriptEntry[];
  /** True when an older version was read: the entries are what the file means, not what it says. */
  migrated: boolean;
  /** Lines that are no entry, as 1-based numbers; they stay in the file and are skipped. */
  unreadableLines: number[];
  /** Bytes up to the end of the last complete entry or group of entries. */
  goodBytes: number;
  /** Bytes behind that: an append that was interrupted. */
  tornBytes: number;
  /** The last line is whole and lacks only its line feed. */
  missingNewline: boolean;
}

export type ParseOutcome =
  | { kind: "transcript"; transcript: ParsedTranscript }
  /** No byte, or nothing but an interrupted header: no session yet. */
  | { kind: "empty"; tornBytes: number }
  | { kind: "not-a-transcript"; reason: string };

/** On a file line: this entry and the next `group - 1` belong together; without all of them none counts. */
const GROUP_KEY = "__clew";

interface Line {
  number: number;
  end: number;
  value: Record<string, unknown> | undefined;
}

/** Pure. `bytes` is the whole file. Shapes and versions: spec "compaction" §2.9. */
export function parseTranscript(bytes: Buffer): ParseOutcome {
  const { lines, missingNewline } = splitLines(bytes);
  const first = lines[0];
  if (first === undefined) return { kind: "empty", tornBytes: bytes.length };
  const header = TranscriptHeaderSchema.safeParse(first.value);
  if (!header.success) return { kind: "not-a-transcript", reason: "its first line is not a session header" };

  const whole = dropIncompleteGroup(lines.slice(1));
  const goodBytes = whole.at(-1)?.end ?? first.end;
  const unreadableLines: number[] = [];
  const records: Record<string, unknown>[] = [];
  for (const line of whole) {
    if (line.value === undefined) unreadableLines.push(line.number);
    else records.push(line.value);
  }
  const base = { goodBytes, tornBytes: bytes.length - goodBytes, missingNewline: missingNewline && goodBytes === bytes.length };
  return { kind: "transcript", transcript: { ...base, ...readEntries(header.data as TranscriptHeader, records, unreadableLines, whole) } };
}

function readEntries(header: TranscriptHeader, records: Record<string, unknown>[], unreadable: number[], lines: Line[]) {
  const moved = migrateTranscript(header, records);
  const entries: TranscriptEntry[] = [];
  const lineOf = lines.filter((line) => line.value !== undefined);
  for (const [index, record] of moved.entries.entries()) {
    if (isEntry(record)) entries.push(withoutGroup(record));
    else {
      unreadable.push(lineOf[index]?.number ?? 0);
      entries.push(...placeholder(record));
    }
  }
  const whole = unreadable.length > 0 ? bridgeGaps(entries) : entries;
  return { header: moved.header, entries: whole, migrated: moved.migrated, unreadableLines: unreadable.sort((a, b) => a - b) };
}

/** Checked by the schema, kept as it was: unknown keys belong to whoever wrote them. */
function isEntry(record: unknown): record is TranscriptEntry {
  return TranscriptEntrySchema.safeParse(record).success;
}

/** An entry of a kind we do not know keeps its place in the tree, so that what came before it is not lost from the branch. */
function placeholder({ id, parentId, timestamp }: Record<string, unknown>): TranscriptEntry[] {
  if (typeof id !== "string" || id === "" || (parentId !== null && typeof parentId !== "string")) return [];
  return [{ type: "custom", customType: "clew.unreadable", id, parentId, timestamp: typeof timestamp === "string" ? timestamp : "" }];
}

/** An entry whose parent was on an unreadable line follows the entry before that line. */
function bridgeGaps(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const ids = new Set(entries.map(({ id }) => id));
  return entries.map((entry, index) =>
    entry.parentId === null || ids.has(entry.parentId) ? entry : { ...entry, parentId: entries[index - 1]?.id ?? null },
  );
}

function splitLines(bytes: Buffer): { lines: Line[]; missingNewline: boolean } {
  const lines: Line[] = [];
  let start = 0;
  for (let number = 1; start < bytes.length; number++) {
    const feed = bytes.indexOf(10, start);
    const end = feed < 0 ? bytes.length : feed + 1;
    const value = parseLine(bytes.toString("utf8", start, feed < 0 ? end : feed));
    // An unfinished last line is an interrupted append, unless all of it is there but the line feed.
    if (feed < 0 && value === undefined) break;
    const last = lines.at(-1);
    if (value !== "blank") lines.push({ number, end, value });
    else if (last !== undefined) last.end = end;
    start = end;
  }
  return { lines, missingNewline: start === bytes.length && bytes.length > 0 && bytes[bytes.length - 1] !== 10 };
}

function parseLine(text: string): Record<string, unknown> | "blank" | undefined {
  if (text.trim() === "") return "blank";
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Lines without a group at the end that lacks members: a rewrite that was interrupted must not move the leaf. */
function dropIncompleteGroup(lines: Line[]): Line[] {
  for (let index = lines.length - 1; index >= 0; index--) {
    const size = groupSize(lines[index]?.value);
    if (size !== undefined) return index + size > lines.length ? lines.slice(0, index) : lines;
  }
  return lines;
}

function groupSize(value: Record<string, unknown> | undefined): number | undefined {
  const group = (value?.[GROUP_KEY] as { group?: unknown } | undefined)?.group;
  return typeof group === "number" ? group : undefined;
}

function withoutGroup(entry: TranscriptEntry & { [GROUP_KEY]?: unknown }): TranscriptEntry {
  if (!(GROUP_KEY in entry)) return entry;
  const { [GROUP_KEY]: _group, ...rest } = entry;
  return rest;
}

/** The lines of `entries`; `atomic`: all or none of them count when the write is interrupted. */
export function formatEntries(entries: readonly TranscriptEntry[], options: { atomic?: boolean } = {}): string {
  const group = options.atomic === true && entries.length > 1;
  return entries
    .map((entry, index) => `${JSON.stringify(group && index === 0 ? { ...entry, [GROUP_KEY]: { group: entries.length } } : entry)}\n`)
    .join("");
}

export function formatHeader(header: TranscriptHeader): string {
  return `${JSON.stringify(header)}\n`;
}
