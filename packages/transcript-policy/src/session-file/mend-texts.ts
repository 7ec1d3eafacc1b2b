// Reads a line whose only faults are signs in texts that JSON does not allow there.
import { type Entry, isSurelyEntry, parseEntry } from "./entry.ts";
import { type Edit, withEdits } from "./locate.ts";
import { isSpace, ObjectScan } from "./scan.ts";

/**
 * The line with each backslash that escapes nothing doubled, and each control character written as
 * JSON writes it; undefined when that makes no entry of it. A NUL is no character: it stands where
 * bytes were lost.
 */
export function withReadableTexts(line: Buffer): { bytes: Buffer; entry: Entry } | undefined {
  const scan = new ObjectScan();
  const edits: Edit[] = [];
  for (let from = 0; ; ) {
    const step = scan.feed(line, from);
    if (step.kind === "complete") {
      const isLast = line.subarray(step.end).every((byte) => isSpace(byte));
      return isLast && edits.length > 0 ? entryOf(withEdits(line, edits)) : undefined;
    }
    const edit = step.kind === "open" ? undefined : planEdit(line, scan, step.at);
    if (edit === undefined) return undefined;
    edits.push(edit);
    from = edit.end;
    scan.goOnInText();
  }
}

function planEdit(line: Buffer, scan: ObjectScan, at: number): Edit | undefined {
  if (scan.stoppedIn === "structure" || line[at] === 0) return undefined;
  if (scan.stoppedIn === "escape")
    return { start: scan.escapeAt, end: scan.escapeAt + 1, text: "\\\\" };
  const code = line[at]!.toString(16).padStart(4, "0");
  return { start: at, end: at + 1, text: `\\u${code}` };
}

function entryOf(bytes: Buffer): { bytes: Buffer; entry: Entry } | undefined {
  const entry = parseEntry(bytes);
  return entry !== undefined && isSurelyEntry(entry) ? { bytes, entry } : undefined;
}
