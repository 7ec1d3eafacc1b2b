// Repairs a session file and keeps beside it what had to be taken out.
import { readFile, rm } from "node:fs/promises";
import { type RepairReport, repairSessionFileIfNeeded } from "@clew/transcript-policy/session-file";
import { keepBeside } from "./durable-file.ts";
import { GROUP_TEXT } from "./entry-lines.ts";
import type { SessionNote } from "./notes.ts";

export interface RepairOutcome {
  note: SessionNote | undefined;
  /** The file is another one now. */
  changed: boolean;
}

/**
 * To be called under the session's lock, with no half line at the end. An orderly file costs one
 * reading, or none when it is unchanged.
 */
export async function repairFile(file: string): Promise<RepairOutcome> {
  const found = await repairSessionFileIfNeeded({ sessionFile: file, dryRun: true });
  if (found.code === undefined) return { note: undefined, changed: false };
  if (found.code !== "dry-run") return { note: notRepaired(found), changed: false };
  const lost = found.droppedLines > 0 ? await linesToLose(file) : { bytes: undefined };
  // Without its lines a rewrite would look interrupted, and be cut off at the next opening.
  if (lost === null) return { note: undefined, changed: false };

  const keptIn =
    lost.bytes === undefined ? undefined : await keepBeside(file, "removed", lost.bytes);
  const report = await repairSessionFileIfNeeded({ sessionFile: file });
  if (report.repaired) return { note: { kind: "repaired", report, keptIn }, changed: true };
  if (keptIn !== undefined) await rm(keptIn, { force: true });
  return { note: notRepaired(report), changed: false };
}

const notRepaired = ({ reason = "it changed in the meantime" }: RepairReport): SessionNote => ({
  kind: "not-repaired",
  reason,
});

/**
 * The lines a repair takes out: those that are no JSON, and messages without a role; null in
 * the middle of a rewrite.
 */
async function linesToLose(file: string): Promise<{ bytes: Buffer } | null> {
  // One character per byte: what is kept aside is exactly what was there.
  const text = await readFile(file, "latin1");
  if (text.includes(GROUP_TEXT)) return null;
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !isEntry(line));
  return { bytes: Buffer.from(`${lines.join("\n")}\n`, "latin1") };
}

function isEntry(line: string): boolean {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return false;
    const { type, message } = entry as { type?: unknown; message?: { role?: unknown } | null };
    return (
      type !== "message" ||
      (typeof message === "object" &&
        typeof message?.role === "string" &&
        message.role.trim() !== "")
    );
  } catch {
    return false;
  }
}
