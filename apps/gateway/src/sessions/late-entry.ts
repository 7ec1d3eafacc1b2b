// Makes entries that read what they hold only when somebody asks.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  ORIGIN,
  parseTranscriptLine,
  ROLE,
  type TranscriptEntry,
  withOrigin,
} from "@clew/plugin-sdk/transcript";
import type { EntryRow, PlacedEntry } from "./checkpoint-lines.ts";
import { withoutGroup } from "./entry-lines.ts";
import { keepOwn, READER } from "./kept-entry.ts";
import type { LineSource } from "./line-source.ts";

/**
 * The entry of a row. What it holds is read when it is asked for and forgotten when nobody uses it
 * any more; while somebody does, it is the same object. Reading throws STORAGE_FAILED, and
 * TRANSCRIPT_MOVED when the file holds another entry there by now.
 */
export class LateEntry implements PlacedEntry {
  readonly entry: TranscriptEntry;
  readonly start: number;
  readonly length: number;
  readonly #source: LineSource;
  #held: TranscriptEntry | WeakRef<TranscriptEntry> | undefined;

  constructor(row: EntryRow, source: LineSource) {
    this.start = row.start;
    this.length = row.length;
    this.#source = source;
    this.entry = entryOf(row, this);
  }

  /** Reads it now, and keeps it in memory from then on. */
  hold(): void {
    this.#held = this.read();
  }

  read(): TranscriptEntry {
    const known = this.#held instanceof WeakRef ? this.#held.deref() : this.#held;
    if (known !== undefined) return known;
    const { id, [ORIGIN]: origin = id } = this.entry;
    const parsed = parseTranscriptLine(this.#source.read(this));
    if (parsed.kind !== "entry" || parsed.entry.id !== id)
      throw new ContextEngineError(
        "TRANSCRIPT_MOVED",
        `The session file was changed by another program: entry ${id} is not where it was; open the session again.`,
      );
    const entry = keepOwn(withOrigin(withoutGroup(parsed.entry), origin));
    this.#held = new WeakRef(entry);
    return entry;
  }
}

function entryOf(row: EntryRow, late: LateEntry): TranscriptEntry {
  const { id, parentId, origin, role, content } = row;
  if (content === undefined) return message(row, late);
  if ("entry" in content) return keepOwn(withOrigin(content.entry, origin));
  const known = { [ORIGIN]: origin, [READER]: late, ...(role !== undefined && { [ROLE]: role }) };
  const entry = { type: content.type, id, parentId, ...known };
  for (const key of content.keys)
    Object.defineProperty(entry, key, {
      enumerable: true,
      get: () => (late.read() as unknown as Record<string, unknown>)[key],
    });
  return Object.freeze(entry) as object as TranscriptEntry;
}

/**
 * The same functions for all of them, so that all have one hidden class: with functions of its own
 * each would cost three times the time and five times the memory, and there are so many.
 */
const TIMESTAMP = {
  enumerable: true,
  get(this: ByReader) {
    return this[READER].read().timestamp;
  },
};
const MESSAGE = {
  enumerable: true,
  get(this: ByReader) {
    const entry = this[READER].read();
    return entry.type === "message" ? entry.message : undefined;
  },
};

interface ByReader {
  [READER]: LateEntry;
}

function message({ id, parentId, origin, role }: EntryRow, late: LateEntry): TranscriptEntry {
  const entry: Record<PropertyKey, unknown> = { type: "message", id, parentId };
  Object.defineProperty(entry, "timestamp", TIMESTAMP);
  Object.defineProperty(entry, "message", MESSAGE);
  entry[ORIGIN] = origin;
  entry[READER] = late;
  entry[ROLE] = role;
  return Object.freeze(entry) as object as TranscriptEntry;
}
