// Finds the whole entries in a line that is none, and what lies between them.
import { type Entry, isSurelyEntry, parseEntry } from "./entry.ts";
import { type ClosedObject, isSpace, ObjectScan } from "./scan.ts";

/** A part of a damaged line. */
export interface Piece {
  bytes: Buffer;
  /** Absent: no whole entry. */
  entry?: Entry;
}

const OPEN = 0x7b;
const QUOTE = 0x22;
const COMMA = 0x2c;

/**
 * The pieces of `line`, in order; together they are the line. Every byte is looked at a bounded
 * number of times: a search goes on where JSON ended, since nothing before can begin an entry that
 * the end of a text, or of an inner object, does not show.
 */
export function piecesOf(line: Buffer): Piece[] {
  const pieces: Piece[] = [];
  /** Where what belongs to no entry begins. */
  let rest = 0;
  const take = ({ start, end }: Span, isEntry = isSurelyEntry): boolean => {
    const bytes = line.subarray(start, end);
    const entry = isPartOfAnother(line, rest, { start, end }) ? undefined : parseEntry(bytes);
    if (entry === undefined || !isEntry(entry)) return false;
    if (start > rest) pieces.push({ bytes: line.subarray(rest, start) });
    pieces.push({ bytes, entry });
    rest = end;
    return true;
  };
  for (let start = nextObject(line, 0); start >= 0; ) {
    const scan = new ObjectScan();
    const step = scan.feed(line, start);
    let next = line.length;
    if (step.kind === "complete") {
      take({ start, end: step.end });
      next = step.end;
    } else if (scan.closed !== undefined && take(scan.closed, mayStandIn(line, scan.closed))) {
      // A half that was torn where a value was to come, and a whole entry behind it.
      next = scan.closed.end;
    } else if (step.kind === "stopped") {
      next = behindStop(line, start, { step, scan });
    }
    start = nextObject(line, next);
  }
  if (rest < line.length) pieces.push({ bytes: line.subarray(rest) });
  return pieces;
}

/**
 * An entry that somebody quoted, such as in the arguments of a call, looks like one that was
 * appended to a torn half. But it stands deep in a message, and few follow something; and behind
 * what was appended the line ends, or another object begins.
 */
const mayStandIn =
  (line: Buffer, { depth, end }: ClosedObject) =>
  (entry: Entry): boolean => {
    if (depth === 1) return isSurelyEntry(entry);
    const behind = skipSpace(line, end, 1);
    const isAppended = behind === line.length || line[behind] === OPEN;
    return isAppended && isSurelyEntry(entry) && typeof entry.parentId === "string";
  };

/** An object that may go on behind a piece. */
export interface Beginning {
  bytes: Buffer;
  /** Where it begins in the piece. */
  start: number;
  scan: ObjectScan;
}

/**
 * The object in `piece` that may go on behind it; undefined when there is none. Before an entry,
 * space behind a number is the entry's.
 */
export function beginningIn(piece: Buffer, isBeforeEntry: boolean): Beginning | undefined {
  const end = isBeforeEntry ? skipSpace(piece, piece.length - 1, -1) + 1 : piece.length;
  const told = piece.subarray(0, end);
  for (let start = nextObject(told, 0); start >= 0; ) {
    const scan = new ObjectScan();
    const step = scan.feed(told, start);
    if (step.kind === "open") {
      const isWhole = !scan.isInWord;
      if (isWhole) scan.feed(piece, end);
      return { bytes: (isWhole ? piece : told).subarray(start), start, scan };
    }
    const next = step.kind === "complete" ? step.end : behindStop(told, start, { step, scan });
    start = nextObject(told, next);
  }
  return undefined;
}

interface Stopped {
  step: { at: number };
  scan: ObjectScan;
}

/**
 * Where to look on after an object that stopped. One that was torn in a text takes the brace of the
 * next entry for the end of the text.
 */
function behindStop(line: Buffer, start: number, { step, scan }: Stopped): number {
  const inside = braceBefore(line, scan.quoteAt);
  return inside > start ? inside : Math.max(step.at, start + 1);
}

interface Span {
  start: number;
  end: number;
}

/** The next brace that may open an entry: behind it comes a key, or the end of the line. */
function nextObject(line: Buffer, from: number): number {
  for (let at = line.indexOf(OPEN, from); at >= 0; at = line.indexOf(OPEN, at + 1)) {
    const behind = skipSpace(line, at + 1, 1);
    if (behind === line.length || line[behind] === QUOTE) return at;
  }
  return -1;
}

/** The brace right before a quote; -1 when there is none. */
function braceBefore(line: Buffer, quote: number): number {
  const at = skipSpace(line, quote - 1, -1);
  return line[at] === OPEN ? at : -1;
}

const PUNCTUATION = new Set([..."[]{}:,\0\u00EF\u00BB\u00BF \t"].map((sign) => sign.charCodeAt(0)));
const isBefore = (byte: number | undefined) => byte === 0x3a || byte === COMMA || byte === 0x5b;
const isClosing = (byte: number | undefined) => byte === 0x7d || byte === 0x5d;

/** A value of a damaged object around it, such as the arguments of a call that names an entry. */
function isPartOfAnother(line: Buffer, rest: number, { start, end }: Span): boolean {
  let behind = skipSpace(line, end, 1);
  const before = line[skipSpace(line, start - 1, -1)];
  // What stood around it may be gone but for the braces that close it.
  if (before === 0 && isClosing(line[behind])) return true;
  if (line.subarray(rest, start).some((byte) => !PUNCTUATION.has(byte))) {
    // The sign before it may be what was damaged: then what goes on behind it tells.
    const goesOn =
      isClosing(line[behind]) ||
      (line[behind] === COMMA && line[skipSpace(line, behind + 1, 1)] === QUOTE);
    const isValue = isBefore(before) || before === 0;
    return goesOn || (isValue && line[behind] === COMMA);
  }
  // Where the line begins with it, only another field behind it can tell.
  while (isClosing(line[behind])) behind = skipSpace(line, behind + 1, 1);
  return line[behind] === COMMA && line[skipSpace(line, behind + 1, 1)] === QUOTE;
}

function skipSpace(line: Buffer, from: number, step: 1 | -1): number {
  let at = from;
  while (at >= 0 && at < line.length && isSpace(line[at])) at += step;
  return at;
}
