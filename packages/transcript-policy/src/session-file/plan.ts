// Decides what a repair of a session file writes, from its lines alone.
import { createSlices, type Steps, stepsInSlices } from "@clew/plugin-sdk/host";
import { isBlank, roleOf, type StoredBlock } from "../stored.ts";
import { type Entry, isHeader, isSurelyEntry, messageOf, parseAheadSteps } from "./entry.ts";
import { isBrokenHeader, isHeaderLike, planHeader, withIdOfFile } from "./header.ts";
import { Joins, type Rest, type Salvage } from "./joins.ts";
import { LastBraces, type ReadLine } from "./last-brace.ts";
import type { Line } from "./lines.ts";
import { Links, type NewLinks, numberAheadSteps } from "./links.ts";
import { type MendCounts, planMend } from "./mend-entry.ts";
import { withJsonSigns } from "./mend-signs.ts";
import { withReadableTexts } from "./mend-texts.ts";
import { withFirstBrace, withoutQuotes } from "./mend-whole.ts";
import { MissingResults } from "./missing-results.ts";

/** What was found wrong with a file. */
export interface FoundDamage extends MendCounts {
  /** Lines of which nothing could be read. */
  droppedLines: number;
  /** Results made up for calls that had none. */
  insertedToolResults: number;
  /** Entries that were read in lines that are none. */
  salvagedEntries: number;
  /** Parts of such lines that belong to no entry. */
  droppedPieces: number;
  /** Lines that stand in the file before, to the byte, with their id. */
  droppedCopies: number;
  /** Entries that got a new id, because one before them has theirs. */
  renamedEntries: number;
  /** Entries that now follow the one before them: their parent was lost, or in a circle. */
  relinkedEntries: number;
  /** Entries that now stand behind their parent, which followed them. */
  movedEntries: number;
  /** 1: the header was rebuilt, had a damaged id, or stood behind the first line. */
  mendedHeaders: number;
}

/** What to write. A position counts the lines that are kept, from 0, without `first`. */
export interface RepairPlan {
  /** "none": the file holds no entry. "invalid": it is no session file. */
  header: "valid" | "invalid" | "none";
  found: FoundDamage;
  /** A line to write before all others. Absent: none. */
  first?: Buffer;
  /** By the number of a line: the lines to write instead. Others are copied. */
  instead: ReadonlyMap<number, readonly Buffer[]>;
  /** The number of a last line that was torn, and is left as it is. Absent: none. */
  tornEnd?: number;
  /** Positions of entries whose content has to be mended. */
  mended: ReadonlySet<number>;
  /** By position: another place in the tree. */
  links: ReadonlyMap<number, NewLinks>;
  /** By position: calls that get a result behind their entry. */
  missing: ReadonlyMap<number, readonly StoredBlock[]>;
  /** By position: how many lines now belong together with this one. */
  groups: ReadonlyMap<number, number>;
  /** Positions in the order in which they are to be written. Absent: that of the file. */
  order?: readonly number[];
  /** What is not written again, in file order: parts of no entry, lines with damaged pictures. */
  rests: readonly Rest[];
}

/** What a plan depends on besides the lines. */
export interface PlanOptions {
  /** Name of the file, without the folder: what its header is rebuilt from. */
  fileName: string;
  /** ms since the epoch. */
  now: number;
  /** True: a torn last line is left as it is. Absent: it is damage. */
  keepsTornEnd?: boolean | undefined;
  /** How many lines belong together with one. Absent: none do. */
  groupSizeOf?: ((line: Buffer) => number | undefined) | undefined;
}

/** Reads all lines once; others have their turn between two pieces of them. */
export async function planRepair(
  pieces: AsyncIterable<readonly Line[]>,
  options: PlanOptions,
): Promise<RepairPlan> {
  const planner = new Planner(options);
  const braces = new LastBraces({ readsTornEnd: options.keepsTornEnd !== true });
  for await (const lines of pieces)
    for (const line of lines) {
      if (line.bytes.length >= LONG_BYTES) {
        // To put it together took its time, too.
        await createSlices().next();
        await stepsInSlices(lookAheadSteps(line.bytes));
      }
      for (const read of braces.add(line)) planner.add(read);
    }
  for (const read of braces.end()) planner.add(read);
  return planner.end();
}

/** A longer line takes long to parse and to number. */
const LONG_BYTES = 2 ** 20;

function* lookAheadSteps(bytes: Buffer): Steps<void> {
  yield* parseAheadSteps(bytes);
  yield* numberAheadSteps(bytes);
}

interface Group {
  position: number;
  size: number;
  /** Number of the first line behind it. */
  end: number;
}

/** Plans the repair of lines that are told one by one. */
export class Planner {
  readonly #options: PlanOptions;
  readonly #joins = new Joins();
  readonly #links: Links;
  readonly #missing = new MissingResults();
  readonly #instead = new Map<number, Buffer[]>();
  readonly #mended = new Set<number>();
  readonly #groups = new Map<number, number>();
  readonly #rests: Rest[] = [];
  /** Numbers of lines of which nothing was read so far. */
  readonly #damaged = new Set<number>();
  /** By the number of a damaged line, how many entries were kept before it. */
  readonly #keptBefore = new Map<number, number>();
  readonly #counts = {
    rewrittenAssistantMessages: 0,
    rewrittenUserMessages: 0,
    removedCorruptedImageBlocks: 0,
    salvagedEntries: 0,
    droppedCopies: 0,
  };
  #line = 0;
  #position = 0;
  #group: Group | undefined;
  #header: { bytes: Buffer; isFirst: boolean } | undefined;
  /** The first entry, and its line. */
  #first: { entry: Entry; line: number } | undefined;
  #isVersion2 = false;
  #tornEnd: number | undefined;

  constructor(options: PlanOptions, links = new Links()) {
    this.#options = options;
    this.#links = links;
  }

  add({ line: { bytes, ended }, entry, was }: ReadLine): void {
    const line = this.#line++;
    if (this.#group?.end === line) this.#endGroup();
    if (was !== undefined) {
      this.#rests.push({ bytes: was, line });
      this.#salvage(bytes, ended);
      return;
    }
    if (entry !== undefined && (isSurelyEntry(entry) || !this.#joins.wants(bytes, line))) {
      if (this.#keep(entry, bytes)) return;
      this.#instead.set(line, []);
      if (this.#position > 0) return;
      this.#rests.push({ bytes: Buffer.from(bytes), line });
    } else if (isBlank(bytes.toString("utf8"))) {
      this.#instead.set(line, []);
      this.#joins.addBlank(line);
    }
    // A copy: a part of a piece of the file would keep all of it in memory.
    else this.#salvage(Buffer.from(bytes), ended);
  }

  async end(): Promise<RepairPlan> {
    if (this.#group?.end === this.#line) this.#endGroup();
    const missing = this.#missing.plan();
    const { links, order, ...places } = await this.#links.plan();
    const parts = this.#joins
      .rests()
      .filter(({ line, bytes }) => line !== this.#tornEnd && hasText(bytes));
    const droppedPieces = parts.filter(({ line }) => !this.#damaged.has(line)).length;
    const rests = [...this.#rests, ...parts].toSorted((one, other) => one.line - other.line);
    const first = this.#firstLine(rests);
    return {
      header: this.#headerState(first),
      found: {
        ...this.#counts,
        ...{ ...places, droppedPieces },
        droppedLines: this.#damaged.size,
        insertedToolResults: [...missing.values()].reduce((sum, calls) => sum + calls.length, 0),
        mendedHeaders: first === undefined ? 0 : 1,
      },
      ...(first !== undefined && { first }),
      ...(this.#tornEnd !== undefined && { tornEnd: this.#tornEnd }),
      ...{ instead: this.#instead, mended: this.#mended, groups: this.#groups },
      ...{ links, missing, rests },
      ...(order !== undefined && { order }),
    };
  }

  /** False: it is not written here. `begunAt`: how many entries were kept when it began. */
  #keep(entry: Entry, bytes: Buffer, begunAt?: number): boolean {
    const isFirst = this.#position === 0;
    if (isHeader(entry)) {
      if (this.#header === undefined) {
        const mended = withIdOfFile(bytes, entry, this.#options.fileName);
        this.#header = { bytes: mended ?? Buffer.from(bytes), isFirst: isFirst && !mended };
        if (!this.#header.isFirst) return false;
      } else if (this.#header.bytes.equals(bytes)) return this.#dropCopy();
      this.#place(HEADER, bytes);
      return true;
    }
    if (isFirst && this.#header === undefined && isBrokenHeader(entry)) return false;
    if (this.#links.isCopy(entry, bytes)) return this.#dropCopy();
    if (this.#first === undefined && isSurelyEntry(entry))
      this.#first = { entry, line: this.#line - 1 };
    this.#isVersion2 ||= roleOf(messageOf(entry)) === "hookMessage";
    this.#mend(entry, bytes);
    this.#place(entry, bytes, begunAt);
    return true;
  }

  #dropCopy(): false {
    this.#counts.droppedCopies += 1;
    return false;
  }

  #place(entry: Entry, bytes: Buffer, begunAt?: number): void {
    const position = this.#position++;
    this.#links.see(entry, bytes, begunAt);
    this.#missing.see(entry, position);
    const size = this.#options.groupSizeOf?.(bytes);
    if (size !== undefined) this.#group = { position, size, end: this.#line - 1 + size };
  }

  #mend(entry: Entry, bytes: Buffer): void {
    const mend = planMend(entry);
    if (mend === undefined) return;
    this.#mended.add(this.#position);
    if (mend.removedCorruptedImageBlocks > 0)
      this.#rests.push({ bytes: Buffer.from(bytes), line: this.#line - 1 });
    this.#counts.rewrittenAssistantMessages += mend.rewrittenAssistantMessages;
    this.#counts.rewrittenUserMessages += mend.rewrittenUserMessages;
    this.#counts.removedCorruptedImageBlocks += mend.removedCorruptedImageBlocks;
  }

  #salvage(bytes: Buffer, ended: boolean): void {
    const line = this.#line - 1;
    this.#keptBefore.set(line, this.#position);
    const readable =
      withReadableTexts(bytes) ??
      withJsonSigns(bytes) ??
      withoutQuotes(bytes) ??
      (this.#joins.wants(bytes, line) ? undefined : withFirstBrace(bytes));
    if (readable !== undefined) this.#rests.push({ bytes, line });
    const { saved, lines }: Salvage =
      readable === undefined ? this.#joins.add(bytes, line) : { saved: [readable], lines: [] };
    if (saved.length === 0 && !ended && this.#options.keepsTornEnd === true) {
      this.#tornEnd = line;
      return;
    }
    this.#damaged.add(line);
    if (saved.length === 0) this.#links.seeGap();
    if (saved.length > 0) for (const each of [line, ...lines]) this.#damaged.delete(each);
    const kept = saved.filter(({ entry, bytes: own, begun }) =>
      this.#keep(entry, own, begun && this.#keptBefore.get(begun.line)! + begun.entriesBefore),
    );
    for (const { parts = [] } of kept) this.#rests.push(...parts);
    this.#counts.salvagedEntries += kept.length;
    this.#instead.set(
      line,
      kept.map((each) => each.bytes),
    );
  }

  /** Fewer lines belong together when some of them are not written; more do no harm. */
  #endGroup(): void {
    const { position, size } = this.#group!;
    const written = this.#position - position;
    if (written < size) this.#groups.set(position, written);
    this.#group = undefined;
  }

  #firstLine(rests: readonly Rest[]): Buffer | undefined {
    if (this.#header !== undefined) return this.#header.isFirst ? undefined : this.#header.bytes;
    if (this.#first === undefined) return undefined;
    const { entry, line } = this.#first;
    const before = rests.filter((rest) => rest.line <= line);
    const remains = before.map(({ bytes }) => bytes.toString("utf8", 0, MAX_HEADER));
    const told = before[remains.findIndex(isHeaderLike)];
    if (told !== undefined) this.#damaged.delete(told.line);
    const { fileName, now } = this.#options;
    const isVersion2 = this.#isVersion2;
    return Buffer.from(planHeader({ remains, fileName, first: entry, isVersion2, now }));
  }

  #headerState(first: Buffer | undefined): RepairPlan["header"] {
    if (this.#position === 0 && first === undefined) return "none";
    return this.#header !== undefined || first !== undefined ? "valid" : "invalid";
  }
}

/** True: there is nothing to repair. */
export const isInOrder = ({ found }: RepairPlan): boolean =>
  Object.values(found).every((count) => count === 0);

/** Headers have no place in the tree. */
const HEADER: Entry = {};

/** What is longer is no header, bytes. */
const MAX_HEADER = 65_536;

/** NULs, spaces, byte order marks and the signs of a list around entries say nothing. */
const hasText = (bytes: Buffer): boolean => bytes.some((byte) => !SILENT.has(byte));

const SILENT = new Set([...Buffer.from("\0 \t\r\n\v\f[,]\uFEFF")]);
