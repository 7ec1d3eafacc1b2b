// What the bytes of a session file hold, and where its last complete write ends.
import {
  parseTranscript,
  parseTranscriptLine,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";

export interface FileContent {
  header: TranscriptHeader;
  /** Of the current version, in file order. */
  entries: TranscriptEntry[];
  /**
   * Version of the file; when older than the current one, the entries are what it
   * means, not what it says.
   */
  version: number;
  /** Numbers of lines that hold no entry, counted from 1; they stay in the file. */
  unreadableLines: number[];
  /**
   * Bytes up to the end of the last complete write; behind them is an append or
   * rewrite that was interrupted.
   */
  goodBytes: number;
  /** The last line is whole and lacks only its line feed. */
  missingNewline: boolean;
}

export type ParseOutcome =
  | { kind: "transcript"; content: FileContent }
  /** Nothing, or nothing but an interrupted header: no session yet. */
  | { kind: "empty" }
  | { kind: "not-a-transcript"; reason: string };

/**
 * On a file line: this entry and the next `group - 1` belong together; without
 * all of them none counts.
 */
const GROUP_KEY = "__clew";
/** How a file shows that it holds such a mark. */
export const GROUP_TEXT = `"${GROUP_KEY}":{"group":`;

/** Pure. `bytes` is the whole file. */
export function parseSessionFile(bytes: Buffer): ParseOutcome {
  const whole = bytes.toString("utf8");
  const { torn } = parseTranscript(lastLine(whole));
  const linesEnd = torn ? bytes.lastIndexOf(10) + 1 : bytes.length;
  const goodBytes = withoutOpenGroup(bytes, linesEnd);
  const text = goodBytes === bytes.length ? whole : bytes.toString("utf8", 0, goodBytes);
  if (text.trim() === "") return { kind: "empty" };
  const { header, entries, badLines } = parseTranscript(text);
  if (header === undefined)
    return { kind: "not-a-transcript", reason: "its first line is not a session header" };
  const content = {
    header,
    entries: entries.map(withoutGroup),
    version: versionOf(text),
    unreadableLines: badLines.map(({ line }) => line),
    goodBytes,
    missingNewline: bytes[goodBytes - 1] !== 10,
  };
  return { kind: "transcript", content };
}

function versionOf(text: string): number {
  const line = parseTranscriptLine(text.split("\n", 1)[0] ?? "");
  return line.kind === "header" ? line.header.version : TRANSCRIPT_VERSION;
}

/** Whether a line is torn does not depend on those before it. */
function lastLine(text: string): string {
  return text.slice(text.lastIndexOf("\n") + 1);
}

/**
 * A rewrite that was interrupted must not move the leaf: where its first entry begins, unless all
 * of its entries are there.
 */
function withoutOpenGroup(bytes: Buffer, end: number): number {
  const group = lastGroup(bytes, end);
  if (group === undefined) return end;
  let position = group.start;
  for (let line = 0; line < group.size; line++) {
    const feed = bytes.indexOf(10, position);
    // Only the last line may lack its line feed.
    if (feed < 0 || feed >= end)
      return line === group.size - 1 && position < end ? end : group.start;
    position = feed + 1;
  }
  return end;
}

function lastGroup(bytes: Buffer, end: number): { start: number; size: number } | undefined {
  for (let limit = end; ; ) {
    const mark = bytes.subarray(0, limit).lastIndexOf(GROUP_TEXT);
    if (mark < 0) return undefined;
    const start = bytes.lastIndexOf(10, mark) + 1;
    const feed = bytes.indexOf(10, mark);
    const size = groupSize(bytes.toString("utf8", start, feed < 0 ? end : feed));
    if (size !== undefined) return { start, size };
    limit = start;
  }
}

/** Undefined when the text that looked like a mark is part of a message. */
function groupSize(line: string): number | undefined {
  try {
    const size: unknown = JSON.parse(line)[GROUP_KEY]?.group;
    return typeof size === "number" ? size : undefined;
  } catch {
    return undefined;
  }
}

function withoutGroup(entry: TranscriptEntry & { [GROUP_KEY]?: unknown }): TranscriptEntry {
  if (!(GROUP_KEY in entry)) return entry;
  const { [GROUP_KEY]: _group, ...rest } = entry;
  return rest;
}

/** The lines of `entries`; `atomic`: all or none of them count when the write is interrupted. */
export function formatEntries(
  entries: readonly TranscriptEntry[],
  options: { atomic?: boolean } = {},
): string {
  const group = options.atomic === true && entries.length > 1;
  return entries
    .map(
      (entry, index) =>
        `${JSON.stringify(group && index === 0 ? { ...entry, [GROUP_KEY]: { group: entries.length } } : entry)}\n`,
    )
    .join("");
}

export function formatHeader(header: TranscriptHeader): string {
  return `${JSON.stringify(header)}\n`;
}
