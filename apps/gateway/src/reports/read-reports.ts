// Reads a session's turn reports with their ordinals, from any place on.
import type { TurnReport } from "@clew/engine-core";
import { fromJson } from "../own-json.ts";
import { readFileLines, readFilePart } from "../sessions/file-lines.ts";
import { describeFile, linesOf, type ReportFile, reportFiles } from "./report-files.ts";
import { createLineReader, startIn } from "./report-lines.ts";

/** Where one report stands among those of its session. */
export interface ReportPlace {
  /**
   * Counts the session's turns from 1, as the report says itself; an older one does not, and is
   * counted with all lines before it. It never changes.
   */
  turn: number;
  /** Of its line, counted over all files of the session, also those that are kept no more. */
  start: number;
  length: number;
}

export interface PlacedReport extends ReportPlace {
  report: TurnReport;
}

/** How far reports were read. */
export interface ReportsEnd {
  bytes: number;
  turns: number;
  /** The newest that could be read. Absent: none behind where it was begun. */
  last?: { turn: number; turnId: string } | undefined;
}

export const REPORTS_START: ReportsEnd = { bytes: 0, turns: 0 };

export interface ReportReading {
  /**
   * Told the ordinal of a line that is no report of this version, or of a turn that has no line
   * (`isGone`). A report with the same ordinal that comes later says that it was none. Absent:
   * nobody is told.
   */
  onUnreadable?: (turn: number, isGone: boolean) => unknown;
  /** As of `readFileLines`. */
  atOnce?: boolean;
}

/**
 * Tells of each report behind `from`, in order, and waits for what it may be promised; says how
 * far it came. A line that is torn is read the next time, one that is no report of this version
 * is counted, told of by its ordinal, and passed over; one that stands there twice counts once.
 * `folder` is an agent's reports folder. Throws what the file system does.
 */
export async function readReports(
  folder: string,
  sessionId: string,
  from: ReportsEnd,
  onReport: (placed: PlacedReport) => unknown,
  { onUnreadable, atOnce = false }: ReportReading = {},
): Promise<ReportsEnd> {
  const files = await reportFiles(folder, sessionId, { atOnce });
  let end = files.length === 0 ? REPORTS_START : from;
  for (const file of files) {
    if (file.after.bytes + file.bytes < end.bytes && file !== files.at(-1)) continue;
    const goesOn = end.bytes > file.after.bytes;
    const begin = goesOn ? { ...end, start: end.bytes - file.after.bytes } : {};
    end = await readFileReports(file, { ...begin, atOnce }, ({ report, ...place }) =>
      report === undefined
        ? onUnreadable?.(place.turn, place.length === 0)
        : onReport({ ...place, report }),
    );
  }
  return end;
}

/** How many there are or were, a torn one included: whoever writes on ends its line. */
export async function countReports(folder: string, sessionId: string): Promise<number> {
  const newest = (await reportFiles(folder, sessionId)).at(-1);
  if (newest === undefined) return 0;
  const last = await findInNewest(folder, sessionId, (reports) => reports.at(-1));
  const isNumbered = last?.turn !== undefined && last.start >= newest.after.bytes;
  let turns = isNumbered ? last.turn! - 1 : newest.after.turns;
  const from = isNumbered ? last.start - newest.after.bytes : 0;
  const rest = await readFileLines(newest.file, { from }, (bytes, start) => {
    const isStart = start === 0 && startIn(bytes.toString("utf8")) !== undefined;
    if (bytes.length > 0 && !isStart) turns++;
  });
  return rest.end > rest.start ? turns + 1 : turns;
}

/** The reports that stand at these places, without those that are not there any more. */
export async function readReportsAt(
  folder: string,
  sessionId: string,
  places: readonly ReportPlace[],
): Promise<PlacedReport[]> {
  const found: PlacedReport[] = [];
  if (places.length === 0) return found;
  for (const { file, after, bytes } of await reportFiles(folder, sessionId)) {
    const isIn = ({ start }: ReportPlace) => start >= after.bytes && start < after.bytes + bytes;
    const here = places.filter(isIn);
    const [first, last] = [here[0], here.at(-1)];
    if (first === undefined || last === undefined) continue;
    const [from, to] = [first.start - after.bytes, last.start + last.length - after.bytes];
    const text = await readFilePart(file, from, to);
    const lines = createLineReader(linesOf(file));
    for (const place of here) {
      const start = place.start - after.bytes;
      const line = text.toString("utf8", start - from, start - from + place.length);
      const report = parseReport(await lines.read(line, start))?.report;
      if (report !== undefined) found.push({ ...place, report });
    }
  }
  return found;
}

/** A line that is no report has none; of a turn that has no line the length is 0. */
type ReadLine = ReportPlace & { report: TurnReport | undefined };

/** One file's lines, from a place in it on. Absent: from its first one. */
export async function readFileReports(
  { file, after }: ReportFile,
  {
    start: from = 0,
    turns: before = after.turns,
    last: newest,
    atOnce,
  }: { start?: number; atOnce?: boolean } & Partial<Pick<ReportsEnd, "turns" | "last">>,
  onLine: (line: ReadLine) => unknown,
): Promise<ReportsEnd> {
  let turns = before;
  let last = newest;
  /** Whether they are turns the next report says. */
  let unreadable: ReadLine[] = [];
  const lines = createLineReader(linesOf(file));
  const tellUnreadable = async (until: number) => {
    for (const line of unreadable) if (line.turn < until) await onLine(line);
    unreadable = [];
  };
  const rest = await readFileLines(file, { from, atOnce }, async (bytes, start) => {
    // The log ends a torn line before it goes on: an empty line is none.
    if (bytes.length === 0) return;
    const line = bytes.toString("utf8");
    if (start === 0 && startIn(line) !== undefined) return;
    const place = { start: after.bytes + start, length: bytes.length };
    const found = parseReport(await lines.read(line, start));
    if (found === undefined) {
      turns++;
      unreadable.push({ turn: turns, ...place, report: undefined });
      return;
    }
    const { report, turn: own } = found;
    if (own === last?.turn && report.turnId === last?.turnId) return;
    const isNext = own !== undefined && own > (last?.turn ?? before) && own < turns + MOST_GONE;
    const turn = isNext ? own : turns + 1;
    await tellUnreadable(turn);
    for (let gone = turns + 1; gone < turn; gone++)
      await onLine({ turn: gone, start: place.start, length: 0, report: undefined });
    turns = turn;
    last = { turn, turnId: report.turnId };
    await onLine({ turn, ...place, report });
  });
  await tellUnreadable(Infinity);
  return { bytes: after.bytes + rest.start, turns, last };
}

/** More turns between two reports are none of ours. */
const MOST_GONE = 1_000_000;

export interface NewestReport {
  report: TurnReport;
  /** As the report says. Absent: an older one does not. */
  turn?: number | undefined;
  /** As of a `ReportPlace`. */
  start: number;
}

/** What is read first of a file's end, bytes; then four times as much. */
const FIRST_BYTES = 64 * 1024;

/**
 * What `find` finds in the newest reports, oldest first, of which it is given ever more; undefined:
 * nothing in all there are. `end` is where the reports end.
 */
export async function findInNewest<Found>(
  folder: string,
  sessionId: string,
  find: (reports: readonly NewestReport[], end: number) => Found | undefined,
): Promise<Found | undefined> {
  const files = await reportFiles(folder, sessionId);
  const newest = files.at(-1);
  if (newest === undefined) return undefined;
  const end = newest.after.bytes + newest.bytes;
  let behind: readonly NewestReport[] = [];
  for (const file of files.toReversed()) {
    let reports = behind;
    for (let length = FIRST_BYTES; ; length *= 4) {
      const from = Math.max(0, file.bytes - length);
      reports = [...(await readEnd(file, from)), ...behind];
      const found = find(reports, end);
      if (found !== undefined) return found;
      if (from === 0) break;
    }
    behind = reports;
  }
  return undefined;
}

/** The reports at the end of one file, whosever they are. */
export async function readFileEnd(path: string, length: number): Promise<TurnReport[]> {
  const file = await describeFile(path);
  if (file === undefined) return [];
  const newest = await readEnd(file, Math.max(0, file.bytes - length));
  return newest.map(({ report }) => report);
}

/** The reports of whole lines behind `from`. */
async function readEnd({ file, after, bytes }: ReportFile, from: number): Promise<NewestReport[]> {
  const text = await readFilePart(file, from, bytes);
  const lines = createLineReader(linesOf(file));
  const found: NewestReport[] = [];
  let at = from === 0 ? 0 : text.indexOf(10) + 1;
  if (from > 0 && at === 0) return [];
  for (let feed = text.indexOf(10, at); feed >= 0; feed = text.indexOf(10, at)) {
    const start = from + at;
    const read = parseReport(await lines.read(text.toString("utf8", at, feed), start));
    if (read !== undefined) found.push({ ...read, start: after.bytes + start });
    at = feed + 1;
  }
  return found;
}

/** As it is stored: which of its session's turns it tells of. Absent: it is an older one. */
export type StoredReport = TurnReport & { turn?: number };

/** Undefined: it is torn, or of another version. */
function parseReport(
  text: string | undefined,
): { report: TurnReport; turn: number | undefined } | undefined {
  try {
    if (text === undefined) return undefined;
    const { turn, ...report } = fromJson(text) as StoredReport;
    if (report.v !== 1) return undefined;
    return { report, turn: Number.isSafeInteger(turn) ? turn : undefined };
  } catch {
    return undefined;
  }
}
