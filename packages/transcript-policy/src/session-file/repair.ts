// Repairs a session file before it is loaded, and nothing that is not damaged.
import type { Stats } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Clock } from "../pass.ts";
import { type LineGroups, repairedBytes } from "./apply.ts";
import { sweepLeftovers } from "./leftovers.ts";
import { readLines } from "./lines.ts";
import type { DamageLook } from "./look.ts";
import type { MendCounts } from "./mend-entry.ts";
import { type FoundDamage, isInOrder, planRepair, type RepairPlan } from "./plan.ts";
import { FILE_OPERATIONS, type FileOperations, isSame, replaceFile } from "./replace.ts";

export type { LineGroups } from "./apply.ts";
export type { FileOperations } from "./replace.ts";

/** The file to repair, and where to say what was done. */
export interface RepairRequest {
  /** Path of the session file; trimmed. */
  sessionFile: string;
  /** True: reports what would be done and leaves the file alone. Default: false. */
  dryRun?: boolean;
  /** Told what was repaired. Default: nobody is. */
  debug?: (message: string) => void;
  /** Told what could not be repaired. Default: nobody is. */
  warn?: (message: string) => void;
  /** Names the backup and stamps results that are made up. Default: the wall clock. */
  clock?: Clock;
  /** Default: those of node:fs. */
  files?: FileOperations;
  /**
   * True: what is taken out (parts of no entry, lines whose pictures are damaged) is kept, as it
   * was, in a file beside, `<file>.removed-…`. Default: it is gone.
   */
  keepRemoved?: boolean;
  /**
   * True: a last line that was torn, and holds nothing that can be read, is no damage and stays: a
   * host that knows how far it wrote cuts it off itself. Default: it is damage.
   */
  keepTornEnd?: boolean;
  /** How lines of this host say that they belong together. Default: none do. */
  groups?: LineGroups;
  /** What was seen while the host read the whole file. Default: nothing, the file is read. */
  look?: DamageLook | undefined;
}

/**
 * "dry-run" it would have been repaired · "file-missing" there is none · "file-empty" it has no
 * line · "header-invalid" its first line is not a session header, or it is UTF-16 · "not-read" and
 * "not-written" the file system failed.
 */
export type RepairCode =
  | "dry-run"
  | "file-missing"
  | "file-empty"
  | "header-invalid"
  | "not-read"
  | "not-written";

/**
 * What was found; the counts of single repairs are there when the file was, or in a dry run would
 * be, rewritten.
 */
export interface RepairReport extends Partial<MendCounts> {
  /** True: the file was rewritten. */
  repaired: boolean;
  /** Lines of which nothing could be read; not in the file any more. */
  droppedLines: number;
  /** Always 0: blank user messages get a text instead. */
  droppedBlankUserMessages?: number;
  /** Results made up for calls that had none. */
  insertedToolResults?: number;
  /** Entries that were read in lines that are none. Absent: 0, as of all that follow. */
  salvagedEntries?: number;
  /** Parts of such lines that belong to no entry; not there any more. */
  droppedPieces?: number;
  /** Lines that stand in the file before, to the byte, with their id; not there any more. */
  droppedCopies?: number;
  /** Entries that got a new id, because one before them has theirs. */
  renamedEntries?: number;
  /** Entries that now follow the one before them: their parent was lost, or in a circle. */
  relinkedEntries?: number;
  /** Entries that now stand behind their parent, which followed them. */
  movedEntries?: number;
  /** 1: the header was rebuilt, or stood behind the first line. */
  mendedHeaders?: number;
  /**
   * Why the file was not repaired although it is not in order, for programs. Given with `reason`.
   */
  code?: RepairCode;
  /** The same for people. */
  reason?: string;
  /** What the file system called it, such as "ENOSPC". Absent: it was not the file system. */
  systemCode?: string;
  /** What was taken out, with `keepRemoved`. Absent: nothing was. */
  keptIn?: string;
  /** The copy of the original, whenever one stays behind. */
  backupPath?: string;
}

/**
 * Repairs a session file in place if it needs it (spec §6): reads what can be read in damaged
 * lines, drops the rest, rebuilds a lost header, gives entries back their place in the tree, and
 * mends failed, blank and damaged content. What is not damaged is copied to the byte, but for line
 * ends. Streams; an orderly file is only read. Never throws for what it finds: `reason` says why
 * nothing was done.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readFile, writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { repairSessionFileIfNeeded } from "@clew/transcript-policy/session-file";
 *
 * const sessionFile = join(tmpdir(), `session-${process.pid}.jsonl`);
 * await writeFile(sessionFile, '{"type":"session","version":3,"id":"s"}\n{"type":"mess');
 * const { repaired, droppedLines } = await repairSessionFileIfNeeded({ sessionFile });
 * assert.deepEqual({ repaired, droppedLines }, { repaired: true, droppedLines: 1 });
 * assert.equal(await readFile(sessionFile, "utf8"), '{"type":"session","version":3,"id":"s"}\n');
 * ```
 */
export async function repairSessionFileIfNeeded(request: RepairRequest): Promise<RepairReport> {
  const given = request.sessionFile.trim();
  if (given === "") return { repaired: false, droppedLines: 0, ...MISSING };
  // A link stays a link.
  const path = await realpath(given).catch(() => given);
  return oneAtATime(path, () => repair(path, request));
}

async function repair(path: string, request: RepairRequest): Promise<RepairReport> {
  const { dryRun = false, warn, clock = Date } = request;
  const skip = (droppedLines: number, why: Why): RepairReport => {
    if (why.code !== "file-missing" && why.code !== "file-empty")
      warn?.(`session file repair skipped: ${why.reason} (${basename(path)})`);
    return { repaired: false, droppedLines, ...why };
  };
  const now = clock.now();
  if (await wasOrderly(path, request)) {
    if (!dryRun) await sweep(path, request);
    return { ...IN_ORDER };
  }
  const look = await lookInto(path, now, request);
  if (look === "clean") return { ...IN_ORDER };
  if ("code" in look) return skip(0, look);
  const { plan, before } = look;
  const { droppedLines } = plan.found;
  if (plan.header === "none")
    return (await isUtf16(path)) ? skip(0, UTF16) : { repaired: false, droppedLines, ...EMPTY };
  if (plan.header === "invalid") return skip(droppedLines, INVALID);
  if (!dryRun) await sweep(path, request);
  if (isInOrder(plan)) {
    if (plan.tornEnd === undefined) await rememberClean(path, before);
    return { ...IN_ORDER };
  }
  const report = { repaired: false, ...toReport(plan.found) };
  if (dryRun) return { ...report, code: "dry-run", reason: "dry run" };
  return replace({ path, plan, before, now }, request);
}

async function replace(
  { path, plan, before, now }: { path: string; plan: RepairPlan; before: Stats; now: number },
  { groups, keepRemoved = false, files = FILE_OPERATIONS, debug, warn }: RepairRequest,
): Promise<RepairReport> {
  const replacement = await replaceFile({
    ...{ path, before, now, files },
    bytes: repairedBytes(path, plan, { now, groups }),
    rests: keepRemoved ? plan.rests.map(({ bytes }) => bytes) : [],
  });
  const { ok, backupPath } = replacement;
  if (backupPath !== undefined)
    debug?.(`session file repair left its backup behind (${basename(backupPath)})`);
  const left = backupPath === undefined ? {} : { backupPath };
  if (!ok) {
    const reason = `repair failed: ${describe(replacement.error)}`;
    warn?.(`session file ${reason} (${basename(path)})`);
    const why = { code: "not-written", reason, ...systemCode(replacement.error) } as const;
    return { repaired: false, droppedLines: plan.found.droppedLines, ...why, ...left };
  }
  debug?.(`session file repaired: ${summarize(plan.found)} (${basename(path)})`);
  const { keptIn } = replacement;
  return {
    repaired: true,
    ...toReport(plan.found),
    ...(keptIn !== undefined && { keptIn }),
    ...left,
  };
}

async function sweep(path: string, { debug }: RepairRequest): Promise<void> {
  const swept = await sweepLeftovers(path);
  if (swept > 0)
    debug?.(`removed ${swept} file(s) of a repair that was killed (${basename(path)})`);
}

/** By path: a second repair of a file looks when the first one is done. */
const running = new Map<string, Promise<unknown>>();

async function oneAtATime<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const before = running.get(path);
  const result = (before ?? Promise.resolve()).then(work, work);
  running.set(path, result);
  try {
    return await result;
  } finally {
    if (running.get(path) === result) running.delete(path);
  }
}

/** Files that were in order when last read: a gateway opens the same few again and again. */
const clean = new Map<string, string>();
const MAX_CLEAN = 8;

const fingerprint = ({ size, mtimeMs, ctimeMs, ino }: Stats): string =>
  [size, mtimeMs, ctimeMs, ino].join("/");

async function rememberClean(path: string, before: Stats): Promise<void> {
  // A file written to while it was read is read again next time.
  const now = await stat(path).catch(() => undefined);
  if (now === undefined || !isSame(now, before)) return;
  clean.delete(path);
  clean.set(path, fingerprint(now));
  const oldest = clean.size > MAX_CLEAN ? clean.keys().next().value : undefined;
  if (oldest !== undefined) clean.delete(oldest);
}

/** True: somebody has looked at the file as it is now. */
async function wasOrderly(path: string, { look }: RepairRequest): Promise<boolean> {
  const before = await look?.orderly();
  if (before === undefined) return false;
  await rememberClean(path, before);
  return clean.get(path) === fingerprint(before);
}

/** Why nothing is repaired. */
type Why = Required<Pick<RepairReport, "code" | "reason">> & Pick<RepairReport, "systemCode">;

const IN_ORDER: RepairReport = { repaired: false, droppedLines: 0 };
const MISSING = { code: "file-missing", reason: "missing session file" } as const;
const EMPTY = { code: "file-empty", reason: "empty session file" } as const;
const UTF16 = {
  code: "header-invalid",
  reason: "written in UTF-16, and session files are UTF-8: convert it (iconv -f UTF-16 -t UTF-8)",
} as const;
const INVALID = { code: "header-invalid", reason: "invalid session header" } as const;

/** True: it begins with the mark of UTF-16, or with letters that have a zero byte each. */
async function isUtf16(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    const bytes = buffer.subarray(0, bytesRead);
    const hasMark = bytesRead > 1 && bytes[0]! + bytes[1]! === 0xff + 0xfe && bytes[0]! >= 0xfe;
    const zeros = (from: number) =>
      bytes.filter((byte, at) => at % 2 === from && byte === 0).length;
    return hasMark || Math.max(zeros(0), zeros(1)) > bytesRead / 4;
  } finally {
    await file.close();
  }
}

async function lookInto(
  path: string,
  now: number,
  { groups, keepTornEnd }: RepairRequest,
): Promise<{ plan: RepairPlan; before: Stats } | "clean" | Why> {
  try {
    const before = await stat(path);
    if (clean.get(path) === fingerprint(before)) return "clean";
    const plan = await planRepair(readLines(path), {
      ...{ fileName: basename(path), now, keepsTornEnd: keepTornEnd },
      groupSizeOf: groups?.sizeOf,
    });
    return { plan, before };
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return MISSING;
    const reason = `failed to read session file: ${describe(error)}`;
    return { code: "not-read", reason, ...systemCode(error) };
  }
}

/** Counts that were always told, and others where there is something to count. */
function toReport(found: FoundDamage): Omit<RepairReport, "repaired"> {
  const { droppedLines, rewrittenAssistantMessages, rewrittenUserMessages, ...others } = found;
  const { removedCorruptedImageBlocks, insertedToolResults, ...newer } = others;
  return {
    ...{ droppedLines, rewrittenAssistantMessages, droppedBlankUserMessages: 0 },
    ...{ rewrittenUserMessages, removedCorruptedImageBlocks, insertedToolResults },
    ...Object.fromEntries(Object.entries(newer).filter(([, count]) => count > 0)),
  };
}

function summarize(found: FoundDamage): string {
  const parts = [
    [found.droppedLines, "dropped", "malformed line(s)"],
    [found.salvagedEntries, "saved", "entry(s) of damaged lines"],
    [found.droppedPieces, "dropped", "piece(s) of damaged lines"],
    [found.mendedHeaders, "mended", "header"],
    [found.droppedCopies, "dropped", "copy(s) of lines"],
    [found.renamedEntries, "renamed", "entry(s) with another one's id"],
    [found.relinkedEntries, "relinked", "entry(s) without their parent"],
    [found.movedEntries, "moved", "entry(s) behind their parent"],
    [found.rewrittenAssistantMessages, "rewrote", "assistant message(s)"],
    [found.rewrittenUserMessages, "rewrote", "user message(s)"],
    [found.removedCorruptedImageBlocks, "removed", "corrupted image block(s)"],
    [found.insertedToolResults, "inserted", "missing tool result(s)"],
  ] as const;
  return parts
    .flatMap(([count, verb, what]) => (count === 0 ? [] : [`${verb} ${count} ${what}`]))
    .join(", ");
}

const describe = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const systemCode = (error: unknown): Pick<RepairReport, "systemCode"> => {
  const code: unknown = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? { systemCode: code } : {};
};
