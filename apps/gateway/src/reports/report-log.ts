// Stores turn reports, with each content once by its hash.
import { type FileHandle, mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ReportParts, TurnReport } from "@clew/engine-core";
import { isSafeId } from "../sessions/keys.ts";
import { fileOf } from "../sessions/paths.ts";
import { expandLastRequest, type LastRequest } from "./expand.ts";

/** Hashes remembered as stored, so that most parts cost no system call. */
const REMEMBERED_PARTS = 4096;

export interface ReportLog {
  append(report: TurnReport, parts: ReportParts): Promise<void>;
  close(): Promise<void>;
}

/**
 * `folder` is an agent's reports folder. Appends are in order; a report is a record, not the truth,
 * so it is not flushed to the disk.
 */
export function openReportLog(folder: string, sessionId: string): ReportLog {
  const file = reportFile(folder, sessionId);
  const stored = new Set<string>();
  let handle: FileHandle | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  const openOnce = async () => {
    if (handle !== undefined) return handle;
    await mkdir(join(folder, "parts"), { recursive: true, mode: 0o700 });
    const opened = await open(file, "a+", 0o600);
    await endTornLine(opened);
    handle = opened;
    return opened;
  };
  const write = async (report: TurnReport, parts: ReportParts) => {
    const target = await openOnce();
    for (const [hash, content] of Object.entries(parts))
      if (!stored.has(hash)) await storePart(folder, hash, content);
    if (stored.size > REMEMBERED_PARTS) stored.clear();
    for (const hash of Object.keys(parts)) stored.add(hash);
    await target.appendFile(`${JSON.stringify(report, roundNumbers)}\n`);
  };
  return {
    append(report, parts) {
      const result = queue.then(() => write(report, parts));
      queue = result.catch(() => undefined);
      return result;
    },
    async close() {
      await queue;
      await handle?.close();
      handle = undefined;
    },
  };
}

export function reportFile(folder: string, sessionId: string): string {
  return fileOf(folder, sessionId);
}

/**
 * What the model saw in the session's last call; null when there was none. Reads the end of the
 * file, as far back as needed.
 */
export async function readLastRequest(
  folder: string,
  sessionId: string,
): Promise<LastRequest | null> {
  const handle = await open(reportFile(folder, sessionId), "r").catch(() => null);
  if (handle === null) return null;
  try {
    const { size } = await handle.stat();
    for (let length = 256 * 1024; ; length *= 4) {
      const from = Math.max(0, size - length);
      const { buffer, bytesRead } = await handle.read(
        Buffer.alloc(size - from),
        0,
        size - from,
        from,
      );
      const request = expandLastRequest(parseReports(buffer.subarray(0, bytesRead), from > 0));
      if (request !== "incomplete" && (request !== null || from === 0)) return request;
      if (from === 0) return null;
    }
  } finally {
    await handle.close();
  }
}

/** The content stored under a hash; null when there is none. */
export async function readPart(folder: string, hash: string): Promise<string | null> {
  return isSafeId(hash) ? readFile(partFile(folder, hash), "utf8").catch(() => null) : null;
}

/** Durations to the microsecond: more digits say nothing. What is small otherwise may be money. */
function roundNumbers(key: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isInteger(value)) return value;
  const digits = key.endsWith("Ms") ? 1e3 : 1e12;
  return Math.round(value * digits) / digits;
}

/** Lines that are no report (torn, or of a later version) are skipped. */
function parseReports(bytes: Buffer, startsInside: boolean): TurnReport[] {
  const lines = bytes.toString("utf8").split("\n");
  return (startsInside ? lines.slice(1) : lines).flatMap((line) => parseReport(line) ?? []);
}

/** Undefined: it is torn, or of another version. */
export function parseReport(line: string): TurnReport | undefined {
  if (line === "") return undefined;
  try {
    const report = JSON.parse(line) as TurnReport;
    return report.v === 1 ? report : undefined;
  } catch {
    return undefined;
  }
}

async function storePart(folder: string, hash: string, content: string): Promise<void> {
  try {
    await writeFile(partFile(folder, hash), content, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function partFile(folder: string, hash: string): string {
  return join(folder, "parts", hash);
}

async function endTornLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  if (size === 0) return;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  if (buffer[0] !== 10) await handle.appendFile("\n");
}
