// Reads a session's turn reports with their ordinals, from any place on.
import type { TurnReport } from "@clew/engine-core";
import { readFileLines, readFilePart } from "../sessions/file-lines.ts";
import { parseReport, reportFile } from "./report-log.ts";

/** Where one report stands among those of its session. */
export interface ReportPlace {
  /** Counts all lines of the session's reports from 1, readable or not: it never changes. */
  turn: number;
  /** Of its line. */
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
}

export const REPORTS_START: ReportsEnd = { bytes: 0, turns: 0 };

/**
 * Tells of each report behind `from`, in order, and waits for what it may be promised; says how far
 * it came. A line that is torn is read the next time, one that is no report of this version is
 * counted and passed over. `folder` is an agent's reports folder. Throws what the file system does.
 */
export async function readReports(
  folder: string,
  sessionId: string,
  from: ReportsEnd,
  onReport: (placed: PlacedReport) => unknown,
): Promise<ReportsEnd> {
  let { turns } = from;
  const file = reportFile(folder, sessionId);
  const read = readFileLines(file, { from: from.bytes }, (line, start) => {
    const report = parseReport(line.toString("utf8"));
    // The log ends a torn line before it goes on: an empty line is none.
    if (line.length > 0) turns++;
    return report && onReport({ turn: turns, start, length: line.length, report });
  });
  const rest = await read.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  return rest === null ? REPORTS_START : { bytes: rest.start, turns };
}

/** The reports that stand at these places, without those that are not there any more. */
export async function readReportsAt(
  folder: string,
  sessionId: string,
  places: readonly ReportPlace[],
): Promise<PlacedReport[]> {
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined) return [];
  const file = reportFile(folder, sessionId);
  const bytes = await readFilePart(file, first.start, last.start + last.length);
  return places.flatMap((place) => {
    const start = place.start - first.start;
    const report = parseReport(bytes.toString("utf8", start, start + place.length));
    return report === undefined ? [] : [{ ...place, report }];
  });
}
