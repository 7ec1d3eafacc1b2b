// Runs `clew sessions repair` on a session file that other programs damaged.
import { resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { RepairReport } from "@clew/transcript-policy/session-file";
import { fileNotFound } from "../file-not-found.ts";
import { isInForce, readOwner } from "../locks/lock.ts";
import { repairedParts } from "../sessions/notes.ts";
import { readTranscript } from "../sessions/read-transcript.ts";
import { repairWholeFile } from "../sessions/repair.ts";
import { storageReason } from "../storage-reason.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import type { Shell } from "../terminal/shell.ts";

/**
 * Throws FILE_NOT_FOUND, TRANSCRIPT_UNREADABLE, SESSION_LOCKED, STORAGE_FAILED when the file is not
 * there, is no session file, is open in another process, or cannot be written.
 */
export async function repairSession(
  file: string,
  { dryRun = false, json = false }: { dryRun?: boolean; json?: boolean },
  { output }: Pick<Shell, "output">,
): Promise<number> {
  if (!dryRun) await refuseOpenFile(file);
  const report = await repairWholeFile(resolve(file), { dryRun });
  if (report.code === "file-missing") throw fileNotFound(file);
  if (json) output.json({ file: resolve(file), dryRun, ...inWords(report) });
  else for (const line of describeRepair(report, dryRun)) output.line(line);
  if (!isDone(report)) await throwReason(file, report);
  return EXIT.done;
}

/** What the file system says is said as elsewhere. */
function inWords(report: RepairReport): RepairReport {
  const { reason, systemCode } = report;
  if (reason === undefined || systemCode === undefined) return report;
  return { ...report, reason: storageReason({ code: systemCode, message: reason }) };
}

async function refuseOpenFile(file: string): Promise<void> {
  const owner = await readOwner(`${resolve(file)}.lock`);
  if (owner === null || !(await isInForce(owner))) return;
  throw new ContextEngineError(
    "SESSION_LOCKED",
    `${file} is open in process ${owner.pid}, which repairs it when it opens it; stop that process to repair it here.`,
  );
}

/** In the words of every other command that reads such a file. */
async function throwReason(
  file: string,
  { code, reason = "", systemCode = "" }: RepairReport,
): Promise<never> {
  if (code === "not-written") {
    const why = storageReason({ code: systemCode, message: reason.replace("repair failed: ", "") });
    const text = `${file} was not repaired, and is as it was: ${why}.`;
    throw new ContextEngineError("STORAGE_FAILED", text);
  }
  await readTranscript(resolve(file));
  throw new ContextEngineError("TRANSCRIPT_UNREADABLE", `${file} was not repaired: ${reason}.`);
}

/** In order, repaired, or a dry run that says what would be done. */
const isDone = ({ code }: RepairReport) => code === undefined || code === "dry-run";

/** What was done, or would be, one line each. */
export function describeRepair(report: RepairReport, dryRun: boolean): string[] {
  const found = repairedParts(report);
  if (!isDone(report)) return found;
  if (found.length === 0) return ["The file is in order; nothing to repair."];
  const backup =
    report.backupPath === undefined ? [] : [`The original is kept at ${report.backupPath}.`];
  const kept = report.keptIn === undefined ? [] : [`What was taken out is in ${report.keptIn}.`];
  const heading = dryRun ? "Would repair:" : "Repaired:";
  return [heading, ...found.map((line) => `  ${line}`), ...kept, ...backup];
}
