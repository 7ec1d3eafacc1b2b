// Stores turn reports, with each content once by its hash.
import { constants } from "node:fs";
import { type FileHandle, open, readFile, rename, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ModelCallReport, ReportParts, TurnReport } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { makeOwnFolder, NO_LINK } from "../home/no-links.ts";
import { fstatSync } from "../own-files.ts";
import { toJson } from "../own-json.ts";
import { isSafeId } from "../sessions/keys.ts";
import { writeBytes } from "../sessions/write-bytes.ts";
import { expandLastRequest, type LastRequest } from "./expand.ts";
import { packPart, unpackPart } from "./packed-part.ts";
import { type KnownList, listBytes, planLists, type ReportedLists } from "./plan-lists.ts";
import {
  countReports,
  findInNewest,
  type NewestReport,
  readFileReports,
  type StoredReport,
} from "./read-reports.ts";
import { olderReportFile, type ReportFile, reportFile, reportFiles } from "./report-files.ts";
import {
  createLineWriter,
  encodeStart,
  type FileStart,
  type LineWriter,
  partBytesIn,
} from "./report-lines.ts";
import { createRequestProof } from "./request-proof.ts";
import { PART_GRACE_MS, removeUnnamedParts } from "./unnamed-parts.ts";
import { callsByPrompt, planUntold } from "./untold-turns.ts";

export { reportFile } from "./report-files.ts";

/** Hashes remembered as stored, so that most parts cost no system call. */
const REMEMBERED_PARTS = 4096;

/** `gateway.limits.reportBytes`, where nobody says otherwise. */
export const DEFAULT_REPORT_BYTES = 16 * 2 ** 20;

export interface ReportLog {
  append(report: TurnReport, parts: ReportParts): Promise<void>;
  /**
   * The ordinal that the next report gets. Turns at the end of `branch` of which no report tells,
   * as the process was killed in them, keep theirs. Throws what the file system does.
   */
  nextTurn(branch?: readonly TranscriptEntry[]): Promise<number>;
  close(): Promise<void>;
}

/** The file as it is written to. */
interface Target {
  handle: FileHandle;
  writer: LineWriter;
  /** Of the parts that were stored with its reports. */
  partBytes: number;
}

/**
 * `folder` is an agent's reports folder. Appends are in order; a report is a record, not the truth,
 * so it is not flushed to the disk. The oldest go when those of the session take more than
 * `maxBytes` with the parts that were stored with them, half of them at once.
 */
export function openReportLog(
  folder: string,
  sessionId: string,
  { maxBytes = DEFAULT_REPORT_BYTES }: { maxBytes?: number } = {},
): ReportLog {
  const stored = new Set<string>();
  let target: Target | undefined;
  let known: KnownList | undefined;
  let own: ReportedLists["own"];
  /** Turns of the session; undefined = not counted. */
  let turns: number | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  /** Nothing that was written before can be relied on: each is stored anew. */
  const letGo = async () => {
    await target?.handle.close().catch(() => {});
    target = undefined;
    known = undefined;
    stored.clear();
  };
  const openOnce = async () => {
    if (target !== undefined && isThere(target)) return target;
    await letGo();
    await makeOwnFolder(dirname(folder), join(folder, "parts"));
    known = await knownList(folder, sessionId);
    target = await openTarget(folder, sessionId);
    return target;
  };
  const openNext = async ({ handle }: Target) => {
    await handle.close();
    target = undefined;
    await rename(reportFile(folder, sessionId), olderReportFile(folder, sessionId));
    // The first call of a file lists all its messages: the file before it will not be there.
    if (known !== undefined) known = { ...known, bytesSince: Infinity };
    target = await openTarget(folder, sessionId);
    stored.clear();
    await removeUnnamedParts(folder, { olderThanMs: PART_GRACE_MS });
    return target;
  };
  const write = async (report: TurnReport, parts: ReportParts) => {
    const opened = await openOnce();
    // The next file begins with a whole list, which must not fill it.
    const most = Math.max(maxBytes / 2, 4 * listBytes(known));
    const to = opened.writer.bytes + opened.partBytes < most ? opened : await openNext(opened);
    let partBytes = 0;
    for (const [hash, content] of Object.entries(parts))
      if (!stored.has(hash)) partBytes += await storePart(folder, hash, content);
    to.partBytes += partBytes;
    if (stored.size > REMEMBERED_PARTS) stored.clear();
    for (const hash of Object.keys(parts)) stored.add(hash);
    const planned = planLists(report, { known, own });
    own = planned.own;
    turns ??= await countReports(folder, sessionId);
    const numbered: StoredReport = { ...planned.report, turn: turns + 1 };
    try {
      const bytes = await appendReport(to, toJson(numbered, roundNumbers), partBytes);
      // What a full list takes itself was not written since.
      const since = planned.listsAll ? 0 : bytes;
      known = planned.known && {
        ...planned.known,
        bytesSince: planned.known.bytesSince + since,
      };
      turns++;
    } catch (error) {
      // Nobody knows what of it is in the file.
      target = undefined;
      turns = undefined;
      await to.handle.close().catch(() => {});
      throw error;
    }
  };
  return {
    append(report, parts) {
      const result = queue.then(() => write(report, parts));
      queue = result.catch(() => undefined);
      return result;
    },
    nextTurn(branch = []) {
      const result = queue.then(async () => {
        turns ??= await countTurns(folder, sessionId, branch);
        return turns + 1;
      });
      queue = result.catch(() => undefined);
      return result;
    },
    async close() {
      await queue;
      await target?.handle.close();
      target = undefined;
    },
  };
}

/** Those that have reports, and those behind them on the branch that have none. */
async function countTurns(
  folder: string,
  sessionId: string,
  branch: readonly TranscriptEntry[],
): Promise<number> {
  const reports = await countReports(folder, sessionId);
  const newest = await findInNewest(folder, sessionId, (found) => found.at(0) && found);
  const last = newest?.at(-1)?.turn;
  if (newest === undefined || last === undefined) return reports;
  const told = newest.map(({ report: { promptEntryId, modelCalls } }) => {
    return { promptEntryId, calls: modelCalls.length };
  });
  const behind = planUntold(branch, callsByPrompt(told)).filter(
    ({ after, before }) => after !== null && before === null,
  );
  return Math.max(reports, last + behind.length);
}

/**
 * What the model saw in the session's last call; null when there was none. Reads the end of the
 * file, as far back as needed.
 */
export async function readLastRequest(
  folder: string,
  sessionId: string,
): Promise<LastRequest | null> {
  const last = await findInNewest(folder, sessionId, lastIn);
  return last ?? null;
}

/** Undefined: older reports are needed to know it, or it is not what was sent. */
function lastIn(reports: readonly NewestReport[]): LastRequest | undefined {
  const last = expandLastRequest(reports.map(({ report }) => report));
  if (last === null || last === "incomplete") return undefined;
  const calls = reports.flatMap(({ report }) =>
    report.modelCalls.map((call) => ({ report, call })),
  );
  const full = calls.findLastIndex(({ call }) => call.messages.kept === 0);
  const proof = createRequestProof();
  const proofs = calls.slice(full).map((placed) => proof.advance(placed));
  return proofs.at(-1) === "lost" ? undefined : last;
}

/** The content stored under a hash; null when there is none. */
export async function readPart(folder: string, hash: string): Promise<string | null> {
  if (!isSafeId(hash)) return null;
  const read = readFile(partFile(folder, hash)).then(unpackPart);
  return read.catch(() => null);
}

/** Undefined: no report tells the whole list of the newest call. */
const knownList = (folder: string, sessionId: string): Promise<KnownList | undefined> =>
  findInNewest(folder, sessionId, (reports, end) => {
    const last = lastIn(reports);
    const isFull = ({ messages }: ModelCallReport) => messages.kept === 0;
    const full = reports.findLast(({ report }) => report.modelCalls.some(isFull));
    return last && { items: last.messages, bytesSince: end - (full?.start ?? end) };
  }).catch(() => undefined);

/** No link is followed. */
const TO_APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_LINK;

/** A file that follows a full one begins with what came before, also after a kill between both. */
async function openTarget(folder: string, sessionId: string): Promise<Target> {
  const handle = await open(reportFile(folder, sessionId), TO_APPEND, 0o600);
  try {
    await endTornLine(handle);
    const { size } = await handle.stat();
    const [older] = size > 0 ? [] : await reportFiles(folder, sessionId);
    if (older === undefined || older.bytes === 0) {
      const partBytes = size === 0 ? 0 : partBytesIn(await readFile(handle, "utf8"));
      return { handle, writer: createLineWriter(size), partBytes };
    }
    const line = `${encodeStart(await endOf(older))}\n`;
    await handle.appendFile(line);
    return { handle, writer: createLineWriter(Buffer.byteLength(line)), partBytes: 0 };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function endOf(file: ReportFile): Promise<FileStart> {
  let { turns, leafId } = file.after;
  await readFileReports(file, {}, ({ turn, report }) => {
    turns = turn;
    const last = report?.modelCalls.at(-1);
    // What came between an unreadable report and the next is nobody's to tell.
    if (report === undefined || last !== undefined) leafId = last?.leafId;
  });
  const isKnown = leafId === null || (leafId !== undefined && isSafeId(leafId));
  return { turns, bytes: file.after.bytes + file.bytes, ...(isKnown && { leafId: leafId! }) };
}

/** Somebody may have removed, replaced or emptied the file since. Not worth another thread. */
function isThere({ handle, writer }: Target): boolean {
  const { nlink, size } = fstatSync(handle.fd);
  return nlink > 0 && size >= writer.bytes;
}

/** How many bytes that took. */
async function appendReport(
  { handle, writer }: Target,
  report: string,
  partBytes: number,
): Promise<number> {
  const line = writer.lineOf(report, partBytes);
  await writeBytes(handle, Buffer.from(line), null);
  return line.length;
}

/** Durations to the microsecond: more digits say nothing. What is small otherwise may be money. */
function roundNumbers(key: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isInteger(value)) return value;
  const digits = key.endsWith("Ms") ? 1e3 : 1e12;
  return Math.round(value * digits) / digits;
}

/** How many bytes that took: none where it is stored already, and then it is new again. */
async function storePart(folder: string, hash: string, content: string): Promise<number> {
  const file = partFile(folder, hash);
  const packed = await packPart(content);
  for (;;) {
    try {
      await writeFile(file, packed, { flag: "wx", mode: 0o600 });
      return packed.length;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    const now = new Date();
    try {
      await utimes(file, now, now);
      return 0;
    } catch (error) {
      // Another's file: it stays as old as it is. Or it went in between, and is written anew.
      if (codeOf(error) !== "ENOENT") return 0;
    }
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

function partFile(folder: string, hash: string): string {
  return join(folder, "parts", hash);
}

async function endTornLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  if (size === 0) return;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  if (buffer[0] !== 10) await handle.appendFile("\n");
}
