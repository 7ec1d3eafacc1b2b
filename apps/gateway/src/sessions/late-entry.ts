// Makes entries that read what they hold only when somebody asks.
import { ORIGIN, ROLE, type TranscriptEntry, withOrigin } from "@clew/plugin-sdk/transcript";
import type { EntryRow, PlacedEntry } from "./checkpoint-lines.ts";
import { keepOwn, READER } from "./kept-entry.ts";
import { type EntryLines, LateLine } from "./late-line.ts";

/**
 * The entry of a row. What it holds is read when it is asked for and forgotten when nobody uses it
 * any more; while somebody does, it is the same object. What is long in a message is forgotten at
 * once: V8 moves to its old space whatever a weak reference names, and a walk through a long
 * session would leave all its texts there.
 */
export class LateEntry extends LateLine implements PlacedEntry {
  readonly entry: TranscriptEntry;
  #held: TranscriptEntry | WeakRef<TranscriptEntry> | undefined;

  constructor(row: EntryRow, lines: EntryLines) {
    super(row, lines);
    this.entry = entryOf(row, this);
  }

  /** Reads it now, and keeps it in memory from then on. */
  hold(): void {
    this.#held = this.readWhole();
  }

  /** The same, without what is long in it. */
  holdShort(): void {
    this.#held = this.read();
  }

  /** The entry; what is long in its message is read when that is asked for it. */
  read(): TranscriptEntry {
    const known = this.#held instanceof WeakRef ? this.#held.deref() : this.#held;
    if (known !== undefined) return known;
    const entry = this.readShort();
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
