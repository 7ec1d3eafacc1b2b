// What had to be done to open a session, for the log and for people.
import type { RepairReport } from "@clew/transcript-policy/session-file";
import { notEntries } from "../text/not-entries.ts";
import { counted } from "../text/number.ts";
import type { MovedFile } from "./durable-file.ts";

export type SessionNote =
  | { kind: "lock-taken-over"; pid: number }
  /** While it was open, by another program; or what holds it did not say what it stored. */
  | { kind: "read-again"; how: MovedFile | "unsure" }
  /** The file was copied while a process wrote the original. */
  | { kind: "lock-copied" }
  /** An interrupted append was cut off; its bytes are in `keptIn`. */
  | { kind: "torn-tail"; bytes: number; keptIn: string }
  | { kind: "migrated"; fromVersion: number; original: string }
  | { kind: "unreadable-lines"; lines: readonly number[] }
  /** What was taken out is in `keptIn`. */
  | { kind: "repaired"; report: RepairReport; keptIn: string | undefined }
  | { kind: "not-repaired"; reason: string }
  /** Of what engines acknowledged; the damaged lines are in `keptIn`. */
  | { kind: "deliveries-repaired"; lines: readonly number[]; keptIn: string }
  | { kind: "deliveries-unreadable"; file: string; reason: string };

/** One sentence. */
export function describeNote(note: SessionNote): string {
  switch (note.kind) {
    case "lock-taken-over":
      return `process ${note.pid} left its lock and is gone; the lock was taken over.`;
    case "read-again":
      if (note.how === "unsure")
        return "where it is stored, its last step was refused or not confirmed; it was read again.";
      return note.how === "removed"
        ? "its file was removed by another program; it begins anew."
        : `its file was ${note.how} by another program; it was read again.`;
    case "lock-copied":
      return "its lock was copied with it from another folder and locked nothing here; it was replaced.";
    case "torn-tail":
      return `an interrupted write of ${note.bytes} bytes was cut off and kept in ${note.keptIn}.`;
    case "migrated":
      return `upgraded from format version ${note.fromVersion}; the original is kept in ${note.original}.`;
    case "unreadable-lines":
      return `${notEntries(note.lines)}: skipped, and kept in the file.`;
    case "repaired": {
      const kept = note.keptIn === undefined ? "" : `; what was taken out is in ${note.keptIn}`;
      return `repaired: ${repairedParts(note.report).join(", ")}${kept}.`;
    }
    case "not-repaired":
      return `its file needs a repair that failed (${note.reason}); it is used as it is.`;
    case "deliveries-repaired":
      return `${counted(note.lines.length, "damaged line")} of the record of what engines took ${note.lines.length === 1 ? "was" : "were"} taken out and kept in ${note.keptIn}; what engines may have missed is handed over again, under the same ids.`;
    case "deliveries-unreadable":
      return `the record of what engines took, ${note.file}, cannot be read (${note.reason}); it is left as it is, and what engines take now is handed over again, under the same ids, when it can be read.`;
  }
}

/** What is wrong, one phrase each; empty = the file is in order. */
export function repairedParts(report: RepairReport): string[] {
  const counted: [number | undefined, string, string][] = [
    [report.mendedHeaders, "header rebuilt", "headers rebuilt"],
    [report.droppedLines, "line that is not an entry", "lines that are not entries"],
    [report.salvagedEntries, "entry read in a damaged line", "entries read in damaged lines"],
    [
      report.droppedPieces,
      "piece of a line that belongs to no entry",
      "pieces of lines that belong to no entry",
    ],
    [report.droppedCopies, "line that was there twice", "lines that were there twice"],
    [
      report.renamedEntries,
      "entry with the id of another given its own",
      "entries with the id of another given their own",
    ],
    [
      report.relinkedEntries,
      "entry without its parent put behind the one before it",
      "entries without their parents put behind those before them",
    ],
    [
      report.movedEntries,
      "entry that stood before its parent put behind it",
      "entries that stood before their parents put behind them",
    ],
    [
      report.rewrittenAssistantMessages,
      "empty failed reply given a placeholder",
      "empty failed replies given a placeholder",
    ],
    [
      report.rewrittenUserMessages,
      "blank user message given a placeholder",
      "blank user messages given a placeholder",
    ],
    [
      report.removedCorruptedImageBlocks,
      "damaged image replaced by a note",
      "damaged images replaced by a note",
    ],
    [report.insertedToolResults, "missing tool result added", "missing tool results added"],
  ];
  return counted.flatMap(([count, one, many]) =>
    count ? [`${count} ${count === 1 ? one : many}`] : [],
  );
}
