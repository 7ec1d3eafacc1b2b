// Runs `clew sessions repair` on a session file that other programs damaged.
import { resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { type RepairReport, repairSessionFileIfNeeded } from "@clew/transcript-policy/session-file";
import { fileNotFound } from "../file-not-found.ts";
import { repairedParts } from "../sessions/notes.ts";
import { readTranscript } from "../sessions/store.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import type { Shell } from "../terminal/shell.ts";

/**
 * Throws FILE_NOT_FOUND, TRANSCRIPT_UNREADABLE, STORAGE_FAILED when the file is not there, is no
 * session file, or cannot be written.
 */
export async function repairSession(
  file: string,
  { dryRun = false, json = false }: { dryRun?: boolean; json?: boolean },
  { output }: Pick<Shell, "output">,
): Promise<number> {
  const report = await repairSessionFileIfNeeded({ sessionFile: resolve(file), dryRun });
  if (report.code === "file-missing") throw fileNotFound(file);
  if (json) output.json({ file: resolve(file), dryRun, ...report });
  else for (const line of describeRepair(report, dryRun)) output.line(line);
  if (!isDone(report)) await throwReason(file, report);
  return EXIT.done;
}

/** In the words of every other command that reads such a file. */
async function throwReason(file: string, { code, reason }: RepairReport): Promise<never> {
  if (code === "not-written")
    throw new ContextEngineError("STORAGE_FAILED", `${file} was not repaired: ${reason}.`);
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
  return [dryRun ? "Would repair:" : "Repaired:", ...found.map((line) => `  ${line}`), ...backup];
}
