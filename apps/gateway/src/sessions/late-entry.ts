// Makes entries that read what they hold only when somebody asks.
import { closeSync, openSync, readSync } from "node:fs";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  ORIGIN,
  parseTranscriptLine,
  type TranscriptEntry,
  withOrigin,
} from "@clew/plugin-sdk/transcript";
import { storageFailed } from "../storage-error.ts";
import { type EntryRow, type LinePlace, MESSAGE_KEYS } from "./checkpoint-lines.ts";
import { withoutGroup } from "./entry-lines.ts";
import { keepLate, keepOwn } from "./kept-entry.ts";

/** Reads lines of a session file at once: whoever asks for a message cannot wait. */
export interface LineSource {
  /** Throws STORAGE_FAILED. */
  read(place: LinePlace): string;
}

/** An entry of which only its row is in memory. */
export interface LateEntry {
  entry: TranscriptEntry;
  /** Reads it now, and keeps it in memory from then on. */
  hold(): void;
}

/** One that is asked for in order costs one reading of the file per block. */
const BLOCK_BYTES = 256 * 1024;

export function fileLines(file: string): LineSource {
  let block: Buffer = Buffer.alloc(0);
  let blockStart = 0;
  return {
    read({ start, length }) {
      if (start < blockStart || start + length > blockStart + block.length) {
        block = readBytes(file, start, Math.max(length, BLOCK_BYTES));
        blockStart = start;
      }
      return block.toString("utf8", start - blockStart, start - blockStart + length);
    },
  };
}

/** As many of `length` bytes as there are. */
function readBytes(file: string, start: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  try {
    const handle = openSync(file, "r");
    try {
      let done = 0;
      while (done < length) {
        const count = readSync(handle, buffer, done, length - done, start + done);
        if (count === 0) break;
        done += count;
      }
      return buffer.subarray(0, done);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    throw storageFailed(`The session file ${file} cannot be read`, error);
  }
}

/**
 * The entry of a row. What it holds is read when it is asked for and forgotten when nobody uses it
 * any more; while somebody does, it is the same object. Reading throws STORAGE_FAILED, and
 * TRANSCRIPT_MOVED when the file holds another entry there by now.
 */
export function lateEntry(row: EntryRow, source: LineSource): LateEntry {
  const { content } = row;
  if ("entry" in content) {
    const entry = keepOwn(withOrigin(content.entry, row.origin));
    return { entry, hold: () => {} };
  }
  let held: TranscriptEntry | undefined;
  let seen: WeakRef<TranscriptEntry> | undefined;
  const read = (): TranscriptEntry => {
    const known = held ?? seen?.deref();
    if (known !== undefined) return known;
    const entry = readEntry(row, source);
    seen = new WeakRef(entry);
    return entry;
  };
  const hold = () => {
    held = read();
  };
  return {
    entry: content.keys === MESSAGE_KEYS ? message(row, read) : other(row, content.keys, read),
    hold,
  };
}

function readEntry(row: EntryRow, source: LineSource): TranscriptEntry {
  const parsed = parseTranscriptLine(source.read(row));
  if (parsed.kind !== "entry" || parsed.entry.id !== row.id)
    throw new ContextEngineError(
      "TRANSCRIPT_MOVED",
      `The session file was changed by another program: entry ${row.id} is not where it was; open the session again.`,
    );
  return keepOwn(withOrigin(withoutGroup(parsed.entry), row.origin));
}

/** Nearly all of a session: in one piece, because there are so many. */
function message({ id, parentId, origin }: EntryRow, read: () => TranscriptEntry): TranscriptEntry {
  const entry = Object.freeze({
    type: "message",
    id,
    parentId,
    get timestamp() {
      return read().timestamp;
    },
    get message() {
      const entry = read();
      return entry.type === "message" ? entry.message : undefined;
    },
    [ORIGIN]: origin,
  }) as TranscriptEntry;
  return keepLate(entry);
}

function other(
  { type, id, parentId, origin }: EntryRow,
  keys: readonly string[],
  read: () => TranscriptEntry,
): TranscriptEntry {
  const entry = { type, id, parentId, [ORIGIN]: origin };
  for (const key of keys)
    Object.defineProperty(entry, key, {
      enumerable: true,
      get: () => (read() as unknown as Record<string, unknown>)[key],
    });
  return keepLate(Object.freeze(entry) as TranscriptEntry);
}
