// Finds where a value stands in a line of JSON, so that nothing else of the line is touched.
import { isSpace } from "./scan.ts";

/** Of bytes: from `start` up to `end`. */
export interface Span {
  start: number;
  end: number;
}

/** What is written in place of a part of a line. */
export interface Edit extends Span {
  text: string;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

const opens = (byte: number | undefined) => byte === 0x7b || byte === 0x5b;
const closes = (byte: number | undefined) => byte === 0x7d || byte === 0x5d;

/**
 * Where the value at `path` (names of fields, from the outside in) stands; undefined when there is
 * none. `line` must be JSON. Of a field that is there twice it is the last one, as for JSON.parse.
 */
export function locate(line: Uint8Array, path: readonly string[]): Span | undefined {
  let found: Span | undefined = { start: skipSpace(line, 0), end: line.length };
  for (const name of path) {
    if (found === undefined || line[found.start] !== 0x7b) return undefined;
    found = fieldOf(line, found.start, name);
  }
  return found;
}

/** Where the items of the list at `start` stand. */
export function itemsOf(line: Uint8Array, start: number): Span[] {
  const items: Span[] = [];
  let at = skipSpace(line, start + 1);
  while (!closes(line[at])) {
    const end = endOfValue(line, at);
    items.push({ start: at, end });
    at = behindComma(line, end);
  }
  return items;
}

/** The line with its edits, which must not overlap. */
export function withEdits(line: Buffer, edits: readonly Edit[]): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start)) {
    parts.push(line.subarray(from, start), Buffer.from(text, "utf8"));
    from = end;
  }
  return Buffer.concat([...parts, line.subarray(from)]);
}

function fieldOf(line: Uint8Array, start: number, wanted: string): Span | undefined {
  let found: Span | undefined;
  let at = skipSpace(line, start + 1);
  while (!closes(line[at])) {
    const nameEnd = endOfText(line, at);
    const name: unknown = JSON.parse(Buffer.from(line.subarray(at, nameEnd)).toString("utf8"));
    const value = skipSpace(line, skipSpace(line, nameEnd) + 1);
    const end = endOfValue(line, value);
    if (name === wanted) found = { start: value, end };
    at = behindComma(line, end);
  }
  return found;
}

function behindComma(line: Uint8Array, from: number): number {
  const at = skipSpace(line, from);
  return line[at] === COMMA ? skipSpace(line, at + 1) : at;
}

function endOfValue(line: Uint8Array, start: number): number {
  if (line[start] === QUOTE) return endOfText(line, start);
  let depth = 0;
  let at = start;
  do {
    const byte = line[at];
    if (byte === QUOTE) {
      at = endOfText(line, at);
      continue;
    }
    if (opens(byte)) depth++;
    else if (closes(byte)) depth--;
    at++;
  } while (at < line.length && (depth > 0 || !endsWord(line[at])));
  return at;
}

const endsWord = (byte: number | undefined) => byte === COMMA || closes(byte) || isSpace(byte);

function endOfText(line: Uint8Array, start: number): number {
  let at = start + 1;
  while (line[at] !== QUOTE) at += line[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function skipSpace(line: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(line[at])) at++;
  return at;
}
