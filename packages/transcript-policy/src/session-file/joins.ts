// Puts entries together again whose bytes stand on several lines.
import { type Entry, isSurelyEntry, parseEntry } from "./entry.ts";
import { beginningIn, type Piece, piecesOf } from "./salvage.ts";
import type { ObjectScan } from "./scan.ts";

/** A part of a damaged line that belongs to no entry. */
export interface Rest {
  bytes: Buffer;
  /** Number of the line, from 0. */
  line: number;
}

/** An entry that was read in a damaged line. */
export interface Saved {
  bytes: Buffer;
  entry: Entry;
  /** Where it began. Absent: on this line. */
  begun?: Place;
  /** What stands on its lines, where a text goes on: it may have had a line feed there. */
  parts?: readonly Rest[];
}

/** A place in a damaged line. */
export interface Place {
  line: number;
  /** How many whole entries stand before it on its line. */
  entriesBefore: number;
}

/** What a damaged line came to. */
export interface Salvage {
  /** What is written instead of the line. */
  saved: Saved[];
  /** Earlier lines that hold a part of those. */
  lines: number[];
}

/** The beginning of an entry that may end on a later line. */
interface Begun {
  place: Place;
  parts: Rest[];
  /** Where it was parted in a text, by what came after the first part; the number of that text. */
  breaks: Map<number, number>;
  /** Something stands behind its last part on the line. */
  isFollowed: boolean;
  scan: ObjectScan;
}

/**
 * How many lines may stand between two parts of an entry: whole ones, that another process wrote in
 * the meantime.
 */
export const REACH = 8;

/** How many entries may have begun and not ended: more are noise, or many processes. */
const MAX_BEGUN = 8;

/** Looks at damaged lines in order. */
export class Joins {
  /** Newest first. */
  #begun: Begun[] = [];
  readonly #rests: Rest[] = [];

  /** True when `bytes` can be a part of an entry that began before `line`. */
  wants(bytes: Buffer, line: number): boolean {
    return this.#near(line).some(({ scan }) => scan.copy().feed(bytes).kind !== "stopped");
  }

  add(bytes: Buffer, line: number): Salvage {
    const saved: Saved[] = [];
    const lines: number[] = [];
    let pieces = piecesOf(bytes);
    for (const begun of this.#near(line)) {
      const ended = goOn(begun, pieces, line);
      if (ended === undefined) continue;
      pieces = ended.left;
      if (ended.saved !== undefined) {
        saved.push(ended.saved);
        for (const part of begun.parts) lines.push(part.line);
        this.#begun = this.#begun.filter((each) => each !== begun);
      }
      break;
    }
    for (const [at, { bytes: own, entry }] of pieces.entries()) {
      const place = { line, entriesBefore: saved.length };
      if (entry !== undefined) saved.push({ bytes: own, entry });
      else this.#begin({ bytes: own, line }, place, at < pieces.length - 1);
    }
    return { saved, lines };
  }

  /** A line with nothing on it is a line of a text that goes on right behind it. */
  addBlank(line: number): void {
    const [newest] = this.#near(line);
    if (newest === undefined || !newest.scan.isInText || newest.isFollowed) return;
    if (newest.parts.at(-1)!.line + 1 === line) goOn(newest, [{ bytes: NOTHING }], line);
  }

  /** What belongs to no entry, in file order; to be asked when all lines have been seen. */
  rests(): Rest[] {
    this.#keep([]);
    return this.#rests.toSorted((one, other) => one.line - other.line);
  }

  #begin({ bytes, line }: Rest, place: Place, isBeforeEntry: boolean): void {
    const begun = beginningIn(bytes, isBeforeEntry);
    if (begun === undefined) this.#rests.push({ bytes, line });
    else {
      const { start, scan } = begun;
      if (start > 0) this.#rests.push({ bytes: bytes.subarray(0, start), line });
      const parts = [{ bytes: begun.bytes, line }];
      const breaks = new Map<number, number>();
      this.#begun.unshift({ place, parts, breaks, isFollowed: isBeforeEntry, scan });
      if (this.#begun.length > MAX_BEGUN) this.#keep(this.#begun.slice(0, MAX_BEGUN));
    }
  }

  /** Those that may still go on. */
  #near(line: number): readonly Begun[] {
    const near = this.#begun.filter(({ parts }) => parts.at(-1)!.line + REACH >= line);
    if (near.length < this.#begun.length) this.#keep(near);
    return near;
  }

  /** The others will not end any more. */
  #keep(kept: Begun[]): void {
    for (const begun of this.#begun)
      if (!kept.includes(begun)) for (const part of begun.parts) this.#rests.push(part);
    this.#begun = kept;
  }
}

interface GoneOn {
  /** Absent: the entry goes on on a later line. */
  saved?: Saved;
  /** Of the line, what is no part of the entry. */
  left: Piece[];
}

/** Lets `begun` go on with what a line begins with; undefined when that cannot be. */
function goOn(begun: Begun, pieces: readonly Piece[], line: number): GoneOn | undefined {
  const [first, ...others] = pieces;
  if (first === undefined || first.entry !== undefined) return undefined;
  const scan = begun.scan.copy();
  const { scan: before, parts } = begun;
  // Behind what another process wrote in between nothing was broken.
  const isBroken = before.isInText && !begun.isFollowed && parts.at(-1)!.line + 1 === line;
  const breaks = new Map(begun.breaks);
  if (isBroken) breaks.set(parts.length, before.texts);
  const step = scan.feed(first.bytes);
  if (step.kind === "stopped") return undefined;
  if (step.kind === "open") {
    parts.push({ bytes: first.bytes, line });
    Object.assign(begun, { breaks, isFollowed: others.length > 0, scan });
    return { left: others };
  }
  const own = first.bytes.subarray(0, step.end);
  const bytes = joined([...parts.map((part) => part.bytes), own], breaks);
  const entry = parseEntry(bytes);
  if (entry === undefined || !isSurelyEntry(entry) || !isDated(entry)) return undefined;
  const left = piecesOf(first.bytes.subarray(step.end));
  const doubtful = breaks.size > 0 && { parts: [...parts, { bytes: own, line }] };
  return { saved: { bytes, entry, begun: begun.place, ...doubtful }, left: [...left, ...others] };
}

const NOTHING = Buffer.alloc(0);
const LINE_FEED = Buffer.from("\\n");

/**
 * A text that goes on over several lines has line feeds there, which somebody did not escape. One
 * line feed alone may stand where none was written.
 */
function joined(parts: readonly Buffer[], breaks: ReadonlyMap<number, number>): Buffer {
  const texts = [...breaks.values()];
  const isLines = (text: number) => texts.filter((each) => each === text).length > 1;
  return Buffer.concat(
    parts.flatMap((part, at) => {
      const text = breaks.get(at);
      return text !== undefined && isLines(text) ? [LINE_FEED, part] : [part];
    }),
  );
}

/** False: the beginning of one entry's time and the end of another's met. */
const isDated = ({ timestamp }: Entry): boolean =>
  typeof timestamp !== "string" || !Number.isNaN(Date.parse(timestamp));
