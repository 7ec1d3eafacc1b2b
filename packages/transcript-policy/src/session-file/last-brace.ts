// Reads an entry that lacks only its last brace.
import { isRecord } from "@clew/plugin-sdk/host";
import { type Entry, isSurelyEntry, parseEntry } from "./entry.ts";
import { REACH } from "./joins.ts";
import type { Line } from "./lines.ts";
import { type Edit, withEdits } from "./locate.ts";
import { isSpace, ObjectScan } from "./scan.ts";

/** A line, and what it was read as. */
export interface ReadLine {
  /** With the braces that were put in. */
  line: Line;
  /** Absent: it is no entry as it stands. */
  entry?: Entry;
  /** The line as it is in the file. Absent: as it is here. */
  was?: Buffer;
}

/** What a type of entry has to hold; one that was torn before that is not what was written. */
const NEEDED: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["message", ["message"]],
  ["compaction", ["summary", "firstKeptEntryId", "tokensBefore"]],
  ["branch_summary", ["fromId", "summary"]],
  ["custom", ["customType", "data"]],
]);

/** A line whose entries can be read with braces that it lacks. */
interface Lacking {
  bytes: Buffer;
  /** Each entry as far as it came: a later line may go on with it. */
  scans: readonly ObjectScan[];
}

interface Held {
  read: ReadLine;
  lacking: Lacking | undefined;
}

/**
 * Told lines in order, gives them back in order: those with a brace put in wait until enough of
 * what follows was seen.
 */
export class LastBraces {
  readonly #readsTornEnd: boolean;
  #held: Held[] = [];

  /** `readsTornEnd` false: what is wrong with a last line without a line feed is left alone. */
  constructor({ readsTornEnd }: { readsTornEnd: boolean }) {
    this.#readsTornEnd = readsTornEnd;
  }

  *add(line: Line): Generator<ReadLine> {
    const entry = parseEntry(line.bytes);
    const mayLack = entry === undefined && (line.ended || this.#readsTornEnd);
    const lacking = mayLack ? planBraces(line.bytes) : undefined;
    if (this.#held.length === 0 && lacking === undefined) {
      yield { line, ...(entry && { entry }) };
      return;
    }
    // A copy: the bytes hold only until more of the file is read.
    const own = { ...line, bytes: Buffer.from(line.bytes) };
    this.#held.push({ read: { line: own, ...(entry && { entry }) }, lacking });
    yield* this.#decide(REACH);
  }

  /** To be asked when all lines have been told. */
  *end(): Generator<ReadLine> {
    yield* this.#decide(0);
  }

  *#decide(needed: number): Generator<ReadLine> {
    for (let first = this.#held[0]; first !== undefined; first = this.#held[0]) {
      const others = this.#held.slice(1);
      const goesOn = first.lacking !== undefined && others.some(goesOnWith(first.lacking));
      if (first.lacking !== undefined && !goesOn && others.length < needed) return;
      this.#held.shift();
      const { line } = first.read;
      if (first.lacking === undefined || goesOn) yield first.read;
      else yield { line: { ...line, bytes: first.lacking.bytes }, was: line.bytes };
    }
  }
}

const goesOnWith =
  ({ scans }: Lacking) =>
  ({ read: { line, entry } }: Held): boolean =>
    entry === undefined &&
    line.bytes.some((byte) => byte !== 0x20) &&
    scans.some((scan) => scan.copy().feed(line.bytes).kind !== "stopped");

/** The line with those braces; undefined when it lacks none, or something else is wrong with it. */
function planBraces(line: Buffer): Lacking | undefined {
  const edits: Edit[] = [];
  const scans: ObjectScan[] = [];
  for (let start = line.indexOf(OPEN); start >= 0; ) {
    const scan = new ObjectScan();
    const step = scan.feed(line, start);
    let end = step.kind === "complete" ? step.end : line.length;
    if (step.kind !== "complete") {
      end = step.kind === "stopped" ? step.at : line.length;
      const edit = planBrace(line, scan, { start, end });
      if (edit === undefined) break;
      edits.push(edit);
      scans.push(scan);
    }
    start = line.indexOf(OPEN, end);
  }
  return edits.length === 0 ? undefined : { bytes: withEdits(line, edits), scans };
}

const OPEN = 0x7b;
const COMMA = 0x2c;
const NUL = 0;
const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** Fields of an entry: inside of what one holds, they are those of another that ran into it. */
const OF_ENTRIES = ["parentId", "customType", "message"];

/** What a message of each role has to hold; of other roles nobody knows. */
const SAID: ReadonlyMap<unknown, string> = new Map([
  ...["user", "assistant", "toolResult", "custom"].map((role) => [role, "content"] as const),
  ["bashExecution", "command"],
  ["compactionSummary", "summary"],
  ["branchSummary", "summary"],
]);

function isWholeMessage(message: unknown): boolean {
  if (!isRecord(message)) return false;
  const needed = SAID.get(message.role);
  return needed !== undefined && message[needed] !== undefined;
}

const isIn = (held: unknown, name: string) => isRecord(held) && held[name] !== undefined;

/** Behind it comes nothing, another object, or what was never written. */
function planBrace(
  line: Buffer,
  { lacks }: ObjectScan,
  { start, end }: { start: number; end: number },
): Edit | undefined {
  let behind = end;
  while (line[behind] === NUL) behind++;
  const mayEnd = behind === line.length || line[behind] === OPEN;
  if (!mayEnd || lacks === "more") return undefined;
  const at = lacks === "brace" ? behindText(line, end) : line.lastIndexOf(COMMA, end - 1);
  // A number may have been torn.
  if (isDigit(line[at - 1])) return undefined;
  const entry = parseEntry(Buffer.concat([line.subarray(start, at), Buffer.from("}")]));
  if (entry === undefined || !isSurelyEntry(entry)) return undefined;
  const isWhole = NEEDED.get(entry.type)?.every((name) => entry[name] !== undefined) === true;
  const isSaid = entry.type !== "message" || isWholeMessage(entry.message);
  const isOne = !Object.values(entry).some((held) => OF_ENTRIES.some((name) => isIn(held, name)));
  return isWhole && isSaid && isOne
    ? { start: at, end: lacks === "brace" ? at : at + 1, text: "}" }
    : undefined;
}

function behindText(line: Buffer, end: number): number {
  let at = end;
  while (isSpace(line[at - 1])) at--;
  return at;
}
