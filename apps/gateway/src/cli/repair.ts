// Runs `clew sessions repair` on a session file that other programs damaged.
import { resolve } from "node:path";
import { type RepairReport, repairSessionFileIfNeeded } from "@clew/transcript-policy/session-file";
import { fileNotFound } from "../file-not-found.ts";
import { repairedParts } from "../sessions/notes.ts";
import type { Shell } from "../terminal/shell.ts";

/** Exit code 1 when the file could not be repaired; throws FILE_NOT_FOUND when there is none. */
export async function repairSession(
  file: string,
  { dryRun = false, json = false }: { dryRun?: boolean; json?: boolean },
  { output }: Pick<Shell, "output">,
): Promise<number> {
  const report = await repairSessionFileIfNeeded({ sessionFile: resolve(file), dryRun });
  if (report.code === "file-missing") throw fileNotFound(file);
  if (json) output.json({ file: resolve(file), dryRun, ...report });
  else for (const line of describeRepair(report, dryRun)) output.line(line);
  return isDone(report) ? 0 : 1;
}

/** In order, repaired, or a dry run that says what would be done. */
const isDone = ({ code }: RepairReport) => code === undefined || code === "dry-run";

/** What was done, or would be, one line each. */
export function describeRepair(report: RepairReport, dryRun: boolean): string[] {
  const found = repairedParts(report);
  if (!isDone(report)) return [`Not repaired: ${report.reason}.`, ...found];
  if (found.length === 0) return ["The file is in order; nothing to repair."];
  const backup =
    report.backupPath === undefined ? [] : [`The original is kept at ${report.backupPath}.`];
  return [dryRun ? "Would repair:" : "Repaired:", ...found.map((line) => `  ${line}`), ...backup];
}
