// How entries are written as lines, and which lines belong together.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { isRecord, type Steps, stepsAtOnce } from "@clew/plugin-sdk/host";
import type { TranscriptEntry, TranscriptHeader } from "@clew/plugin-sdk/transcript";
import type { LineGroups } from "@clew/transcript-policy/session-file";
import { fromJson, toJson } from "../own-json.ts";
import { mapSteps } from "./map-steps.ts";

/**
 * On a file line: this entry and the next `group - 1` belong together; without
 * all of them none counts.
 */
const GROUP_KEY = "__clew";
/** How a file shows that it holds such a mark. */
const GROUP_TEXT = `"${GROUP_KEY}":{"group":`;
const LAST_MARK = new RegExp(`,${GROUP_TEXT}(\\d{1,9})\\}\\}\\s*$`);
const MARK_CHARS = 100;
/** Longer lines are not searched. */
const LONG_CHARS = 2 ** 20;

/**
 * How many lines belong together with this one; undefined when it has no mark, or one that is part
 * of a message.
 */
export function groupSize(line: string): number | undefined {
  if (line.length > LONG_CHARS) return groupSizeAtEnd(line.slice(-MARK_CHARS));
  if (!line.includes(GROUP_TEXT)) return undefined;
  try {
    return groupSizeIn(fromJson(line));
  } catch {
    return undefined;
  }
}

/** The same of a line that was parsed already. */
export function groupSizeIn(record: unknown): number | undefined {
  const mark = isRecord(record) ? record[GROUP_KEY] : undefined;
  return isRecord(mark) && typeof mark.group === "number" ? mark.group : undefined;
}

/** Parsing a long line again takes long, and the mark is the last thing that we write on a line. */
function groupSizeAtEnd(end: string): number | undefined {
  const size = LAST_MARK.exec(end)?.[1];
  return size === undefined ? undefined : Number(size);
}

/** How a repair keeps the lines of one write together, when some of them are gone. */
export const LINE_GROUPS: LineGroups = {
  sizeOf(line) {
    if (line.length > LONG_CHARS)
      return groupSizeAtEnd(line.toString("utf8", line.length - MARK_CHARS));
    return line.includes(GROUP_TEXT) ? groupSize(line.toString("utf8")) : undefined;
  },
  resize(line, size) {
    // The mark is the last thing that was written on the line.
    const start = line.lastIndexOf(GROUP_TEXT) + GROUP_TEXT.length;
    const behind = line.subarray(line.indexOf("}", start));
    return Buffer.concat([line.subarray(0, start), Buffer.from(String(size)), behind]);
  },
};

/** The entry as it was before it was written. */
export function withoutGroup(entry: TranscriptEntry & { [GROUP_KEY]?: unknown }): TranscriptEntry {
  if (!(GROUP_KEY in entry)) return entry;
  const { [GROUP_KEY]: _group, ...rest } = entry;
  return rest;
}

/** The same at once. */
export const formatEntries = (
  entries: readonly TranscriptEntry[],
  options: { atomic?: boolean } = {},
): string[] => stepsAtOnce(lineSteps(entries, options));

/**
 * A line for each; `atomic`: all or none of them count when the write is interrupted. Throws
 * STORAGE_FAILED rather than give a line that is another entry, or none.
 */
export function* lineSteps(
  entries: readonly TranscriptEntry[],
  options: { atomic?: boolean } = {},
): Steps<string[]> {
  const group = options.atomic === true && entries.length > 1;
  const lines = yield* mapSteps(entries, (entry, index) => {
    const json = toJson(
      group && index === 0 ? { ...entry, [GROUP_KEY]: { group: entries.length } } : entry,
    );
    checkLine(json, entry);
    return `${json}\n`;
  });
  if (lines.length !== entries.length) throw notWritten("entries");
  return lines;
}

export function formatHeader(header: TranscriptHeader): string {
  const json = toJson(header);
  if (!isLineOf(json, header)) throw notWritten("header");
  return `${json}\n`;
}

/** Who shares this process may have put something into the ancestors of what is written. */
function checkLine(json: string, entry: TranscriptEntry): void {
  if (!isLineOf(json, entry)) throw notWritten(`entry ${entry.id}`);
}

/** Of a long line only that it says the id: what is made of it in its place is short. */
function isLineOf(json: string, { type, id }: { type: string; id: string }): boolean {
  if (typeof id !== "string" || typeof json !== "string") return false;
  if (json.length > CHECKED_CHARS) return json.includes(`"id":${toJson(id)}`);
  const read = fromJson(json) as { type?: unknown; id?: unknown } | null;
  return read?.type === type && read.id === id;
}

/** Longer lines are not read again. */
const CHECKED_CHARS = 4096;

const notWritten = (what: string): ContextEngineError =>
  new ContextEngineError(
    "STORAGE_FAILED",
    `The ${what} of the session could not be put into words of its file, and nothing was stored; a plugin may have changed what all code shares: "clew doctor" names it, and a restart undoes it.`,
  );
