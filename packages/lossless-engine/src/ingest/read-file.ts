// Reads of a session file what was appended since the last time, or all of it.
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import {
  createTranscriptReader,
  parseTranscriptLine,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import type { Cursor } from "../store/cursors.ts";
import { type FileLine, linesOf } from "./file-lines.ts";

/** Where a line stands in its file, in bytes, its line feed included. */
export type LinePlace = Pick<FileLine, "start" | "end">;

/** Entries of a session file. */
export interface FilePart {
  /** In file order; of the appended ones each follows the one before. */
  readonly entries: readonly TranscriptEntry[];
  /** Where the line of each stands; empty for a file that has to be read as a whole every time. */
  readonly lines: ReadonlyMap<string, LinePlace>;
  /** Id of the session that the file says it is of. Absent: only its end was read. */
  readonly sessionId?: string;
}

/**
 * What follows the line that `cursor` names. Undefined where the file was replaced, where a branch
 * begins, or where a line cannot be read: then only the whole file says what was told.
 */
export async function readAppended(
  file: FileHandle,
  cursor: Cursor,
): Promise<FilePart | undefined> {
  if (!(await isStillThere(file, cursor))) return undefined;
  const entries: TranscriptEntry[] = [];
  const lines = new Map<string, LinePlace>();
  let last = cursor.entry;
  for await (const line of linesOf(file, cursor.bytes)) {
    const parsed = parseTranscriptLine(line.text);
    if (parsed.kind === "blank") continue;
    if (parsed.kind !== "entry" && !line.isEnded) break;
    if (parsed.kind !== "entry" || parsed.entry.parentId !== last) return undefined;
    entries.push(parsed.entry);
    lines.set(parsed.entry.id, placeOf(line));
    last = parsed.entry.id;
  }
  return { entries, lines };
}

/** Undefined: it is no transcript. */
export async function readWhole(file: FileHandle): Promise<FilePart | undefined> {
  const reader = createTranscriptReader();
  const lines = new Map<string, LinePlace>();
  let unfinished = "";
  for await (const line of linesOf(file, 0)) {
    if (!line.isEnded) {
      unfinished = line.text;
      const parsed = parseTranscriptLine(line.text);
      if (parsed.kind === "entry") lines.set(parsed.entry.id, placeOf(line));
      continue;
    }
    const entry = reader.add(line.text);
    if (entry !== undefined) lines.set(entry.id, placeOf(line));
  }
  const { header, entries, migrated } = reader.end(unfinished);
  if (header === undefined) return undefined;
  return { entries, lines: migrated ? new Map() : lines, sessionId: header.id };
}

/** A cursor behind this line; `entry` is the id of what it holds. */
export async function cursorBehind(
  file: FileHandle,
  { start, end }: LinePlace,
  entry: string,
): Promise<Cursor> {
  const lineBytes = end - start;
  return { bytes: end, lineBytes, lineHash: await hashAt(file, start, lineBytes), entry };
}

const isStillThere = async (file: FileHandle, { bytes, lineBytes, lineHash }: Cursor) =>
  (await hashAt(file, bytes - lineBytes, lineBytes)).equals(lineHash);

/** Of a line, whether or not its line feed was there yet. */
async function hashAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position });
  const isEnded = buffer[bytesRead - 1] === LINE_FEED;
  return createHash("sha256")
    .update(buffer.subarray(0, isEnded ? bytesRead - 1 : bytesRead))
    .digest();
}

const LINE_FEED = 10;

/** A line's text would keep the whole file in memory. */
const placeOf = ({ start, end }: FileLine): LinePlace => ({ start, end });
