// Which files hold a session's turn reports, and where each begins among all of them.
import { open, rm, stat } from "node:fs/promises";
import { readFilePart } from "../sessions/file-lines.ts";
import { fileOf, olderReportsOf } from "../sessions/paths.ts";
import { decodeLine, type FileStart, type LinePlace } from "./report-lines.ts";

export interface ReportFile {
  file: string;
  /** What came before it, also where that is kept no more. */
  after: FileStart;
  bytes: number;
}

/** Longer than any first line that says what came before. */
const START_BYTES = 256;

const NOTHING_BEFORE: FileStart = { turns: 0, bytes: 0 };

/** The file that is written to. `folder` is an agent's reports folder. */
export const reportFile = (folder: string, sessionId: string): string => fileOf(folder, sessionId);

/** The full one before it, which the next full one takes the place of. */
export const olderReportFile = (folder: string, sessionId: string): string =>
  fileOf(folder, olderReportsOf(sessionId));

/** Those that there are, oldest first. */
export async function reportFiles(folder: string, sessionId: string): Promise<ReportFile[]> {
  const files = [olderReportFile(folder, sessionId), reportFile(folder, sessionId)];
  const [older, newer] = await Promise.all(files.map(describeFile));
  if (older === undefined || newer === undefined) return [older ?? newer ?? []].flat();
  // What was forgotten of the older one may have made it another length.
  const bytes = older.after.bytes + older.bytes;
  return [older, { ...newer, after: { ...newer.after, bytes } }];
}

export async function removeReportFiles(folder: string, sessionId: string): Promise<void> {
  for (const file of [olderReportFile(folder, sessionId), reportFile(folder, sessionId)])
    await rm(file, { force: true });
}

export async function lineAt(file: string, { start, length }: LinePlace): Promise<string> {
  return (await readFilePart(file, start, start + length)).toString("utf8");
}

/** Undefined: there is none. */
export async function describeFile(file: string): Promise<ReportFile | undefined> {
  const size = (await stat(file).catch(() => undefined))?.size;
  if (size === undefined) return undefined;
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
    const [first = ""] = buffer.toString("utf8", 0, bytesRead).split("\n");
    const start = decodeLine(first);
    return { file, bytes: size, after: start.kind === "start" ? start.after : NOTHING_BEFORE };
  } finally {
    await handle.close();
  }
}
