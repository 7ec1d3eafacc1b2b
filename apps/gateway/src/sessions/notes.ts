// What had to be done to open a session, for the log and for people.
import type { RepairReport } from "@clew/transcript-policy/session-file";

export type SessionNote =
  | { kind: "lock-taken-over"; pid: number }
  /** An interrupted append was cut off; its bytes are in `keptIn`. */
  | { kind: "torn-tail"; bytes: number; keptIn: string }
  | { kind: "migrated"; fromVersion: number; original: string }
  | { kind: "unreadable-lines"; lines: readonly number[] }
  /** Content was mended; lines that were no entries are in `keptIn`. */
  | { kind: "repaired"; report: RepairReport; keptIn: string | undefined }
  | { kind: "not-repaired"; reason: string };

/** One sentence. */
export function describeNote(note: SessionNote): string {
  switch (note.kind) {
    case "lock-taken-over":
      return `its lock was left by process ${note.pid}, which is gone; taken over.`;
    case "torn-tail":
      return `an interrupted write of ${note.bytes} bytes was cut off and kept in ${note.keptIn}.`;
    case "migrated":
      return `brought from version ${note.fromVersion} to the current one; the original is ${note.original}.`;
    case "unreadable-lines":
      return `lines ${note.lines.join(", ")} hold no entry and are skipped; they stay in the file.`;
    case "repaired": {
      const kept = note.keptIn === undefined ? "" : `; the removed lines are in ${note.keptIn}`;
      return `repaired: ${repairedParts(note.report).join(", ")}${kept}.`;
    }
    case "not-repaired":
      return `its file needs a repair that did not succeed (${note.reason}); it is used as it is.`;
  }
}

/** What was found, or done, one phrase each; empty = the file is in order. */
export function repairedParts(report: RepairReport): string[] {
  const counted: [number | undefined, string][] = [
    [report.droppedLines, "lines that are no entries"],
    [report.rewrittenAssistantMessages, "empty failed replies given a text"],
    [report.rewrittenUserMessages, "blank messages of people given a text"],
    [report.removedCorruptedImageBlocks, "damaged images replaced by a note"],
    [report.insertedToolResults, "missing tool results added"],
  ];
  return counted.flatMap(([count, what]) => (count ? [`${count} ${what}`] : []));
}
