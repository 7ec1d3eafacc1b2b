// Repairs a session file before it is loaded, and nothing that is not damaged.
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Clock } from "../pass.ts";
import { readLines } from "./lines.ts";
import { type Entry, isHeader, type MendCounts, mendEntry, parseEntry } from "./mend-entry.ts";
import { MissingResults, makeResultEntry } from "./missing-results.ts";
import { FILE_OPERATIONS, type FileOperations, replaceFile } from "./replace.ts";

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
}

/**
 * "dry-run" it would have been repaired · "file-missing" there is none · "file-empty" it has no
 * line · "header-invalid" its first line is not a session header · "not-read" and "not-written" the
 * file system failed.
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
  /** Lines that could not be read and are gone. */
  droppedLines: number;
  /** Always 0: blank user messages get a text instead. */
  droppedBlankUserMessages?: number;
  /** Results made up for calls that had none. */
  insertedToolResults?: number;
  /**
   * Why the file was not repaired although it is not in order, for programs. Given with `reason`.
   */
  code?: RepairCode;
  /** The same for people. */
  reason?: string;
  /** The copy of the original, whenever one stays behind. */
  backupPath?: string;
}

interface Plan {
  droppedLines: number;
  header: "valid" | "invalid" | "none";
  counts: Required<
    Pick<RepairReport, keyof MendCounts | "droppedBlankUserMessages" | "insertedToolResults">
  >;
  /** Calls to answer, by position of their entry. */
  missing: ReturnType<MissingResults["plan"]>;
}

/**
 * Repairs a session file in place if it needs it (spec §6): drops lines that are no entries, mends
 * failed, blank and damaged content. Streams; an orderly file is only read. Never throws for what
 * it finds: `reason` says why nothing was done.
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
  const { dryRun = false, debug, warn, clock = Date, files = FILE_OPERATIONS } = request;
  const path = request.sessionFile.trim();
  if (path === "") return { repaired: false, droppedLines: 0, ...MISSING };
  const found = await readPlan(path);
  if ("reason" in found) {
    if (found.code !== "file-missing")
      warn?.(`session file repair skipped: ${found.reason} (${basename(path)})`);
    return { repaired: false, droppedLines: 0, ...found };
  }
  const { plan } = found;
  const { droppedLines, counts } = plan;
  if (plan.header === "none")
    return { repaired: false, droppedLines, code: "file-empty", reason: "empty session file" };
  if (plan.header === "invalid") {
    warn?.(`session file repair skipped: invalid session header (${basename(path)})`);
    return {
      repaired: false,
      droppedLines,
      code: "header-invalid",
      reason: "invalid session header",
    };
  }
  if (droppedLines + Object.values(counts).reduce((sum, count) => sum + count) === 0) {
    await rememberClean(path, found.fingerprint);
    return { repaired: false, droppedLines: 0 };
  }
  if (dryRun)
    return { repaired: false, droppedLines, ...counts, code: "dry-run", reason: "dry run" };

  const backup = `${path}.bak-${process.pid}-${clock.now()}`;
  const replacement = await replaceFile(path, repairedLines(path, plan, clock), backup, files);
  const { backupPath } = replacement;
  if (backupPath !== undefined)
    debug?.(`session file repair left its backup behind (${basename(backupPath)})`);
  const left = backupPath === undefined ? {} : { backupPath };
  if (!replacement.ok) {
    const reason = `repair failed: ${describe(replacement.error)}`;
    warn?.(`session file ${reason} (${basename(path)})`);
    return { repaired: false, droppedLines, code: "not-written", reason, ...left };
  }
  debug?.(`session file repaired: ${summarize(droppedLines, counts)} (${basename(path)})`);
  return { repaired: true, droppedLines, ...counts, ...left };
}

/** Files that were in order when last read: a gateway opens the same few again and again. */
const clean = new Map<string, string>();
const MAX_CLEAN = 8;

async function fingerprint(path: string): Promise<string> {
  const { size, mtimeMs, ctimeMs, ino } = await stat(path);
  return [size, mtimeMs, ctimeMs, ino].join("/");
}

async function rememberClean(path: string, before: string): Promise<void> {
  // A file written to while it was read is read again next time.
  if ((await fingerprint(path).catch(() => undefined)) !== before) return;
  clean.delete(path);
  clean.set(path, before);
  const oldest = clean.size > MAX_CLEAN ? clean.keys().next().value : undefined;
  if (oldest !== undefined) clean.delete(oldest);
}

type Found = { plan: Plan; fingerprint: string } | { code: RepairCode; reason: string };

const MISSING = { code: "file-missing", reason: "missing session file" } as const;

const NO_COUNTS: Plan["counts"] = {
  rewrittenAssistantMessages: 0,
  droppedBlankUserMessages: 0,
  rewrittenUserMessages: 0,
  removedCorruptedImageBlocks: 0,
  insertedToolResults: 0,
};

async function readPlan(path: string): Promise<Found> {
  try {
    const state = await fingerprint(path);
    if (clean.get(path) === state)
      return {
        plan: { droppedLines: 0, header: "valid", counts: NO_COUNTS, missing: new Map() },
        fingerprint: state,
      };
    return { plan: await planRepair(readLines(path)), fingerprint: state };
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return MISSING;
    return { code: "not-read", reason: `failed to read session file: ${describe(error)}` };
  }
}

async function planRepair(lines: AsyncIterable<string>): Promise<Plan> {
  let droppedLines = 0;
  let position = 0;
  let header: Plan["header"] = "none";
  const counts = { ...NO_COUNTS };
  const missing = new MissingResults();
  for await (const line of lines) {
    const entry = parseEntry(line);
    if (entry === undefined) {
      droppedLines += 1;
      continue;
    }
    if (position === 0) header = isHeader(entry) ? "valid" : "invalid";
    const mended = mendEntry(entry);
    counts.rewrittenAssistantMessages += mended.rewrittenAssistantMessages;
    counts.rewrittenUserMessages += mended.rewrittenUserMessages;
    counts.removedCorruptedImageBlocks += mended.removedCorruptedImageBlocks;
    missing.see(entry, position);
    position += 1;
  }
  const open = missing.plan();
  const insertedToolResults = [...open.values()].reduce((sum, calls) => sum + calls.length, 0);
  return { droppedLines, header, counts: { ...counts, insertedToolResults }, missing: open };
}

async function* repairedLines(path: string, plan: Plan, clock: Clock): AsyncGenerator<string> {
  let position = 0;
  for await (const line of readLines(path)) {
    const entry: Entry | undefined = parseEntry(line);
    if (entry === undefined) continue;
    yield JSON.stringify(mendEntry(entry).entry);
    for (const call of plan.missing.get(position) ?? [])
      yield JSON.stringify(makeResultEntry(entry, call, randomUUID(), clock.now()));
    position += 1;
  }
}

function summarize(droppedLines: number, counts: Plan["counts"]): string {
  const parts = [
    [droppedLines, "dropped", "malformed line(s)"],
    [counts.rewrittenAssistantMessages, "rewrote", "assistant message(s)"],
    [counts.rewrittenUserMessages, "rewrote", "user message(s)"],
    [counts.removedCorruptedImageBlocks, "removed", "corrupted image block(s)"],
    [counts.insertedToolResults, "inserted", "missing tool result(s)"],
  ] as const;
  return parts
    .flatMap(([count, verb, what]) => (count === 0 ? [] : [`${verb} ${count} ${what}`]))
    .join(", ");
}

const describe = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
