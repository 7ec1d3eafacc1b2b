// Reads a line whose entry lacks its first brace, or was written as a text of JSON.
import { type Entry, entryId, isSurelyEntry, parseEntry } from "./entry.ts";

/** What a line was read as. */
interface Mended {
  bytes: Buffer;
  entry: Entry;
}

const QUOTE = 0x22;

/**
 * The line with the brace that it lacks; undefined when that makes no entry of it. An entry of
 * which more than that is gone lacks some of the fields that all have.
 */
export function withFirstBrace(line: Buffer): Mended | undefined {
  if (line[0] !== QUOTE) return undefined;
  const mended = entryIn(Buffer.concat([Buffer.from("{"), line]));
  if (mended === undefined) return undefined;
  const { entry } = mended;
  const isWhole = entryId(entry) !== undefined && entry.parentId !== undefined;
  return isWhole && typeof entry.timestamp === "string" ? mended : undefined;
}

/** The entry that a line holds as a text; undefined when it holds none. */
export function withoutQuotes(line: Buffer): Mended | undefined {
  if (line[0] !== QUOTE) return undefined;
  try {
    const text: unknown = JSON.parse(line.toString("utf8"));
    return typeof text === "string" ? entryIn(Buffer.from(text)) : undefined;
  } catch {
    return undefined;
  }
}

function entryIn(bytes: Buffer): Mended | undefined {
  const entry = parseEntry(bytes);
  const isLine = entry !== undefined && !bytes.includes(LINE_FEED);
  return isLine && isSurelyEntry(entry) ? { bytes, entry } : undefined;
}

const LINE_FEED = 0x0a;
