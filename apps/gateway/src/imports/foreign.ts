// What a transcript of another program comes to, whichever program wrote it.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { Tally } from "./tally.ts";

/** Whose files are understood; OpenClaw writes those of pi. */
export const FORMATS = ["claude-code", "codex", "openai", "pi", "openclaw"] as const;
export type Format = (typeof FORMATS)[number];

/** A line of JSON, by its place in the file. */
export interface ForeignLine {
  /** Counted from 1. */
  number: number;
  value: unknown;
}

/** A session in a file, which may hold several. */
export interface FoundSession {
  /** "" = the file's own; else what tells it from the others in the file. */
  name: string;
  /** What its program calls it; unchecked. */
  sourceId: string;
  cwd: string;
  /** ISO 8601. */
  startedAt: string;
  /** What its program calls the session that started it. Null: nobody did. */
  parent: string | null;
  /** What people call it. Null: its program gave no name. */
  label: string | null;
  /** By which a Clew kept it; unchecked. Absent: none did. */
  ownKey?: string | undefined;
}

/** An entry, and in which of the file's sessions it stands. */
export interface ForeignEntry {
  session: string;
  entry: TranscriptEntry;
}

/**
 * Reads the lines of one file, in order. Nothing in a line makes it throw. A parent stands before
 * its children, and the newest entry of the branch that counts is a session's last one.
 */
export interface FormatReader {
  /** Looks at all lines first, where that is needed to understand any. */
  survey?(line: ForeignLine): void;
  /** What can be told now. */
  read(line: ForeignLine): ForeignEntry[];
  /** Lines were passed over here that are damaged or too long. Absent: that makes no difference. */
  skipped?(): void;
  /** What is left when there are no more lines. */
  end(): ForeignEntry[];
  /** Known before the first of its entries is given. */
  session(name: string): FoundSession;
}

export interface ReaderOptions {
  /** Takes its place where a file names no session. */
  fileName: string;
  /** When the file was written last, ISO 8601: for what has no time of its own. */
  writtenAt: string;
  tally: Tally;
}
