// Which files hold a session's turn reports, and where each begins among all of them.
import { statSync } from "node:fs";
import { readFile, rm, stat } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { readFilePart, readShortFile } from "../sessions/file-lines.ts";
import { fileOf, olderReportsOf } from "../sessions/paths.ts";
import { storageReason } from "../storage-reason.ts";
import { type FileStart, type LinePlace, type LineSource, startIn } from "./report-lines.ts";

export interface ReportFile {
  file: string;
  /** What came before it, also where that is kept no more. */
  after: FileStart;
  bytes: number;
}

/** Longer than any first line that says what came before. */
const START_BYTES = 512;

const NOTHING_BEFORE: FileStart = { turns: 0, bytes: 0 };

/** The file that is written to. `folder` is an agent's reports folder. */
export const reportFile = (folder: string, sessionId: string): string => fileOf(folder, sessionId);

/** The full one before it, which the next full one takes the place of. */
export const olderReportFile = (folder: string, sessionId: string): string =>
  fileOf(folder, olderReportsOf(sessionId));

/** Those that there are, oldest first. `atOnce` as of `readFileLines`. */
export async function reportFiles(
  folder: string,
  sessionId: string,
  { atOnce = false }: { atOnce?: boolean } = {},
): Promise<ReportFile[]> {
  const files = [olderReportFile(folder, sessionId), reportFile(folder, sessionId)];
  const describe = atOnce ? describeAtOnce : describeFile;
  const [older, newer] = await Promise.all(files.map(describe));
  if (older === undefined || newer === undefined) return [older ?? newer ?? []].flat();
  // What was forgotten of the older one may have made it another length.
  const bytes = older.after.bytes + older.bytes;
  return [older, { ...newer, after: { ...newer.after, bytes } }];
}

/** What came before the oldest report that is kept. */
export async function keptAfter(folder: string, sessionId: string): Promise<FileStart> {
  const [oldest] = await reportFiles(folder, sessionId);
  return oldest?.after ?? NOTHING_BEFORE;
}

export async function removeReportFiles(folder: string, sessionId: string): Promise<void> {
  for (const file of [olderReportFile(folder, sessionId), reportFile(folder, sessionId)])
    await rm(file, { force: true });
}

/** Undefined: the file is shorter now, or the place is none. */
async function lineAt(file: string, { start, length }: LinePlace): Promise<string | undefined> {
  const { size } = await stat(file);
  if (!(start >= 0 && length > 0 && start + length <= size)) return undefined;
  return (await readFilePart(file, start, start + length)).toString("utf8");
}

/** What a reader of its lines looks up. */
export const linesOf = (file: string): LineSource => ({
  lineAt: (place) => lineAt(file, place),
  all: () => readFile(file, "utf8"),
});

/** Undefined: there is none. */
export async function describeFile(file: string): Promise<ReportFile | undefined> {
  const size = (await stat(file).catch(() => undefined))?.size;
  if (size === undefined) return undefined;
  try {
    return describeBy(await readFilePart(file, 0, Math.min(START_BYTES, size)), { file, size });
  } catch (error) {
    throw new ContextEngineError(
      "STORAGE_FAILED",
      `Turn reports cannot be read from ${file}: ${storageReason(error)}; move it away, or put the file in its place, and try again.`,
      { cause: error },
    );
  }
}

/** The same; a file that is not short is looked at like any other. */
function describeAtOnce(file: string): ReportFile | undefined | Promise<ReportFile | undefined> {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  const bytes = readShortFile(file);
  return bytes === undefined ? describeFile(file) : describeBy(bytes, { file, size: bytes.length });
}

function describeBy(bytes: Buffer, { file, size }: { file: string; size: number }): ReportFile {
  const [first = ""] = bytes.toString("utf8", 0, START_BYTES).split("\n");
  return { file, bytes: size, after: startIn(first) ?? NOTHING_BEFORE };
}
