// Repairs a session file and keeps beside it what had to be taken out.
import {
  type DamageLook,
  type RepairReport,
  repairSessionFileIfNeeded,
} from "@clew/transcript-policy/session-file";
import { LINE_GROUPS } from "./entry-lines.ts";
import type { SessionNote } from "./notes.ts";

export interface RepairOutcome {
  note: SessionNote | undefined;
  /** The file is another one now. */
  changed: boolean;
}

/** What no repair of ours does otherwise. */
const HOW = { keepRemoved: true, groups: LINE_GROUPS } as const;

/**
 * To be called under the session's lock. An orderly file costs one reading, or none when it is
 * unchanged or `look` was there while it was read. What an interrupted append left at the end is
 * for the reader, who knows what it means.
 */
export async function repairFile(file: string, look?: DamageLook): Promise<RepairOutcome> {
  const how = { keepTornEnd: true, look, ...HOW };
  const report = await repairSessionFileIfNeeded({ sessionFile: file, ...how });
  const { repaired, code, reason = "it changed in the meantime", keptIn } = report;
  if (repaired) return { note: { kind: "repaired", report, keptIn }, changed: true };
  // Of what is no session file, or none at all, the reader tells.
  const isTold = code !== "not-read" && code !== "not-written";
  return { note: isTold ? undefined : { kind: "not-repaired", reason }, changed: false };
}

/** What `repairFile` would do; code "dry-run" when it would do anything. */
export const lookForDamage = (file: string): Promise<RepairReport> =>
  repairSessionFileIfNeeded({ sessionFile: file, keepTornEnd: true, dryRun: true, ...HOW });

/** Also cuts off what was torn at the end; to be called where nobody writes the file. */
export const repairWholeFile = (file: string, { dryRun }: { dryRun: boolean }) =>
  repairSessionFileIfNeeded({ sessionFile: file, dryRun, ...HOW });
