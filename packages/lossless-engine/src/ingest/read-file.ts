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

/** Entries of a session file. */
export interface FilePart {
  /** In file order; of the appended ones each follows the one before. */
  readonly entries: readonly TranscriptEntry[];
  /** Where the line of each stands; empty for a file that has to be read as a whole every time. */
  readonly lines: ReadonlyMap<string, FileLine>;
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
  const lines = new Map<string, FileLine>();
  let last = cursor.entry;
  for await (const line of linesOf(file, cursor.bytes)) {
    const parsed = parseTranscriptLine(line.text);
    if (parsed.kind === "blank") continue;
    if (parsed.kind !== "entry" && !line.isEnded) break;
    if (parsed.kind !== "entry" || parsed.entry.parentId !== last) return undefined;
    entries.push(parsed.entry);
    lines.set(parsed.entry.id, line);
    last = parsed.entry.id;
  }
  return { entries, lines };
}

/** Undefined: it is no transcript. */
export async function readWhole(file: FileHandle): Promise<FilePart | undefined> {
  const reader = createTranscriptReader();
  const lines = new Map<string, FileLine>();
  let unfinished = "";
  for await (const line of linesOf(file, 0)) {
    if (!line.isEnded) {
      unfinished = line.text;
      const parsed = parseTranscriptLine(line.text);
      if (parsed.kind === "entry") lines.set(parsed.entry.id, line);
      continue;
    }
    const entry = reader.add(line.text);
    if (entry !== undefined) lines.set(entry.id, line);
  }
  const { header, entries, migrated } = reader.end(unfinished);
  if (header === undefined) return undefined;
  return { entries, lines: migrated ? new Map() : lines };
}

/** A cursor behind this line; `entry` is the id of what it holds. */
export function cursorBehind({ text, start, end }: FileLine, entry: string): Cursor {
  return { bytes: end, lineBytes: end - start, lineHash: hashOf(text), entry };
}

async function isStillThere(
  file: FileHandle,
  { bytes, lineBytes, lineHash }: Cursor,
): Promise<boolean> {
  const { buffer, bytesRead } = await file.read({
    buffer: Buffer.alloc(lineBytes),
    position: bytes - lineBytes,
  });
  const text = buffer.toString("utf8").replace(/\n$/, "");
  return bytesRead === lineBytes && hashOf(text).equals(lineHash);
}

const hashOf = (text: string) => createHash("sha256").update(text).digest();
