// Reads a line that another notation of JSON wrote, where it is certain what was meant.
import { type Entry, isSurelyEntry, parseEntry } from "./entry.ts";

/** Words of Python. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["None", "null"],
  ["True", "true"],
  ["False", "false"],
]);

/** Texts in double quotes; texts in single quotes; words; a comma before what closes. */
const PARTS =
  /("[^"\\]*(?:\\.[^"\\]*)*")|'([^'\\]*(?:\\.[^'\\]*)*)'(?=\s*[,:}\]])|\b(None|True|False)\b|,(?=\s*[}\]])/g;

/** What is longer was written by a program that has not made such a line by hand, characters. */
const LONGEST = 2 ** 20;

/**
 * The line with texts in double quotes, words of JSON, and no comma before a closing bracket;
 * undefined when that makes no entry of it.
 */
export function withJsonSigns(line: Buffer): { bytes: Buffer; entry: Entry } | undefined {
  if (line.length > LONGEST) return undefined;
  const text = line.toString("utf8");
  const mended = text.replace(PARTS, (found, double, single, word) => {
    if (double !== undefined) return found;
    if (single !== undefined) return inDoubleQuotes(single);
    return word === undefined ? "" : WORDS.get(word)!;
  });
  if (mended === text) return undefined;
  const bytes = Buffer.from(mended);
  const entry = parseEntry(bytes);
  return entry !== undefined && isSurelyEntry(entry) ? { bytes, entry } : undefined;
}

/** What was escaped stays so, but for the single quote. */
const inDoubleQuotes = (text: string): string =>
  `"${text.replace(/\\(.)|"/gs, (found, escaped) => (escaped === "'" ? "'" : escaped === undefined ? '\\"' : found))}"`;
