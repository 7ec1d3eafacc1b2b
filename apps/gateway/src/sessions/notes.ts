// What had to be done to open a session; for the log and for people.

export type SessionNote =
  | { kind: "lock-taken-over"; pid: number }
  /** An interrupted append was cut off; its bytes are in `keptIn`. */
  | { kind: "torn-tail"; bytes: number; keptIn: string }
  | { kind: "migrated"; fromVersion: number; original: string }
  | { kind: "unreadable-lines"; lines: readonly number[] };

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
  }
}
