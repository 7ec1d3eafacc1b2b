// Reads the entry of one line of a session file whenever it is asked for.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { parseTranscriptLine, type TranscriptEntry, withOrigin } from "@clew/plugin-sdk/transcript";
import type { LinePlace } from "./checkpoint-lines.ts";
import { withoutGroup } from "./entry-lines.ts";
import { keepOwn } from "./kept-entry.ts";
import { type MessageReader, shortEntry } from "./late-message.ts";
import { fileLines, type LineSource } from "./line-source.ts";

/** The lines of one file, and the entry that was read last: who asks for it often asks again. */
export class EntryLines {
  readonly #lines: LineSource;
  // No object around both: V8 may put it into the old space, and then all it ever held follows.
  #lastStart = -1;
  #lastEntry: TranscriptEntry | undefined;

  constructor(file: string) {
    this.#lines = fileLines(file);
  }

  /** As its line says it. Throws STORAGE_FAILED, and what `line.parse` throws. */
  read(line: LateLine): TranscriptEntry {
    if (this.#lastStart === line.start && this.#lastEntry !== undefined) return this.#lastEntry;
    const entry = line.parse(this.#lines.read(line));
    this.#lastStart = line.start;
    this.#lastEntry = entry;
    return entry;
  }
}

/** Which entry stands on a line. */
export interface EntryOnLine extends LinePlace {
  id: string;
  /** The entry that first said what this one says. */
  origin: string;
}

/**
 * Reading throws STORAGE_FAILED, and TRANSCRIPT_MOVED when the file holds another entry there by
 * now.
 */
export class LateLine implements EntryOnLine, MessageReader {
  readonly start: number;
  readonly length: number;
  readonly id: string;
  readonly origin: string;
  readonly #lines: EntryLines;

  constructor({ start, length, id, origin }: EntryOnLine, lines: EntryLines) {
    this.start = start;
    this.length = length;
    this.id = id;
    this.origin = origin;
    this.#lines = lines;
  }

  /** The entry as it is kept. */
  readWhole(): TranscriptEntry {
    return keepOwn(withOrigin({ ...this.#lines.read(this) }, this.origin));
  }

  /** The same, and its long texts are read when they are asked for. */
  readShort(): TranscriptEntry {
    return shortEntry(this.#lines.read(this), this) ?? this.readWhole();
  }

  readMessage() {
    const entry = this.#lines.read(this);
    if (entry.type !== "message") throw this.#moved();
    return entry.message;
  }

  /** What `text`, which stands there, says. */
  parse(text: string): TranscriptEntry {
    const parsed = parseTranscriptLine(text);
    if (parsed.kind !== "entry" || parsed.entry.id !== this.id) throw this.#moved();
    return withoutGroup(parsed.entry);
  }

  #moved(): ContextEngineError {
    return new ContextEngineError(
      "TRANSCRIPT_MOVED",
      `The session file was changed by another program: entry ${this.id} is not where it was; open the session again.`,
    );
  }
}
