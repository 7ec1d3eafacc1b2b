// What a session file holds, and where its last complete write ends.
import { createSlices, decodeSteps, parseJsonSteps, stepsInSlices } from "@clew/plugin-sdk/host";
import {
  createTranscriptReader,
  parseTranscriptLine,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import type { LineLook } from "@clew/transcript-policy/session-file";
import { fromJson } from "../own-json.ts";
import type { LinePlace, PlacedEntry } from "./checkpoint-lines.ts";
import { groupSizeIn, withoutGroup } from "./entry-lines.ts";
import { readFileLines } from "./file-lines.ts";

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
  /**
   * Where each entry stands, in the same order; undefined when not every line is an entry of the
   * current version.
   */
  places: LinePlace[] | undefined;
}

export type ReadOutcome = { fileBytes: number } & (
  | { kind: "transcript"; content: FileContent }
  /** Nothing, or nothing but an interrupted header: no session yet. */
  | { kind: "empty" }
  | { kind: "not-a-transcript"; reason: string }
);

/** What is done with the lines while they are read. */
export interface ReadOptions {
  /** Told of every line that is not blank. Absent: nobody is. */
  look?: Pick<LineLook, "add"> | undefined;
  /** Called with each entry, which it may change. Absent: they stay as they were read. */
  onEntry?: ((entry: TranscriptEntry, place: LinePlace) => void) | undefined;
  /** As of `readFileLines`. */
  atOnce?: boolean | undefined;
}

/** Reads piece by piece. Throws what the file system throws. */
export async function readSessionFile(
  file: string,
  { look, onEntry, atOnce }: ReadOptions = {},
): Promise<ReadOutcome> {
  const whole = await readPart(file, { look, onEntry, atOnce });
  return whole.goodBytes === whole.linesEnd
    ? outcomeOf(whole, whole.fileBytes)
    : // The beginning of an interrupted rewrite must not move the leaf.
      outcomeOf(await readPart(file, { to: whole.goodBytes, onEntry, atOnce }), whole.fileBytes);
}

interface PartRead {
  read: ReturnType<ReturnType<typeof createTranscriptReader>["end"]>;
  firstLine: string;
  holdsGroups: boolean;
  isBlank: boolean;
  /** Where a line that is torn begins, or the end. */
  linesEnd: number;
  goodBytes: number;
  missingNewline: boolean;
  places: LinePlace[] | undefined;
  fileBytes: number;
}

async function readPart(
  file: string,
  { to, look: damage, onEntry, atOnce }: ReadOptions & { to?: number },
): Promise<PartRead> {
  const reader = createTranscriptReader();
  /** A write of several lines whose end was not seen yet. */
  let open: { start: number; left: number } | undefined;
  let firstLine: string | undefined;
  let holdsGroups = false;
  let isBlank = true;
  const placed: PlacedEntry[] = [];
  const look = (text: string, value: unknown, start: number) => {
    firstLine ??= text;
    isBlank &&= text.trim() === "";
    const size = groupSizeIn(value);
    holdsGroups ||= size !== undefined;
    if (size !== undefined) open = { start, left: size };
    if (open !== undefined && --open.left <= 0) open = undefined;
  };
  const take = (line: Buffer, place: LinePlace, { text, value }: ParsedLine) => {
    look(text, value, place.start);
    if (value !== undefined || text.trim() !== "") damage?.add(line, value);
    const entry = reader.add(text, { value });
    if (entry === undefined) return;
    onEntry?.(entry, place);
    placed.push({ entry, ...place });
  };
  const part = { ...(to !== undefined && { to }), atOnce };
  const unfinished = await readFileLines(file, part, (line, start) => {
    const place = { start, length: line.length };
    if (line.length < LONG_BYTES) return take(line, place, parse(line));
    return parseLong(line).then((parsed) => take(line, place, parsed));
  });
  const { text: rest, value } = parse(unfinished.bytes);
  const read = reader.end(rest);
  if (!read.torn && rest !== "") look(rest, value, unfinished.start);
  if (rest !== "") damage?.add(unfinished.bytes, value);
  const linesEnd = read.torn ? unfinished.start : unfinished.end;
  return {
    ...{ read, holdsGroups, isBlank, linesEnd },
    firstLine: firstLine ?? "",
    goodBytes: open?.start ?? linesEnd,
    missingNewline: !read.torn && rest !== "",
    places: isWhole(read.entries, placed) ? placed : undefined,
    fileBytes: unfinished.end,
  };
}

/** Longer lines take long to parse. */
const LONG_BYTES = 2 ** 20;

interface ParsedLine {
  text: string;
  /** Undefined: it is no JSON. */
  value: unknown;
}

function parse(line: Buffer): ParsedLine {
  const text = line.toString("utf8");
  try {
    return { text, value: fromJson(text) };
  } catch {
    return { text, value: undefined };
  }
}

async function parseLong(line: Buffer): Promise<ParsedLine> {
  // To put the line together took its time, too.
  await createSlices().next();
  const text = await stepsInSlices(decodeSteps(line));
  const value = await stepsInSlices(parseJsonSteps(text)).catch(() => undefined);
  return { text, value };
}

const isWhole = (entries: readonly TranscriptEntry[], placed: readonly PlacedEntry[]) =>
  entries.length === placed.length && entries.every((entry, at) => entry === placed[at]!.entry);

function outcomeOf(part: PartRead, fileBytes: number): ReadOutcome {
  const { read, isBlank, firstLine, holdsGroups, goodBytes, missingNewline, places } = part;
  if (isBlank) return { fileBytes, kind: "empty" };
  const { header, entries, badLines } = read;
  if (header === undefined)
    return {
      fileBytes,
      kind: "not-a-transcript",
      reason: "its first line is not a session header",
    };
  const content = {
    header,
    entries: holdsGroups ? entries.map(withoutGroup) : entries,
    version: versionOf(firstLine),
    unreadableLines: badLines.map(({ line }) => line),
    places: badLines.length === 0 ? places : undefined,
    ...{ goodBytes, missingNewline },
  };
  return { fileBytes, kind: "transcript", content };
}

function versionOf(firstLine: string): number {
  const line = parseTranscriptLine(firstLine);
  return line.kind === "header" ? line.header.version : TRANSCRIPT_VERSION;
}
