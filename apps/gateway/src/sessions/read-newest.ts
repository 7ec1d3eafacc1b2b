// Reads the newest entries of a session's branch from the end of its file.
import { open } from "node:fs/promises";
import { pause, withoutDeepParts } from "@clew/plugin-sdk/host";
import {
  parseTranscriptLine,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import { groupSize, withoutGroup } from "./entry-lines.ts";
import { readFilePart } from "./file-lines.ts";

/** The end of a branch. */
export interface NewestEntries {
  header: TranscriptHeader;
  /** Oldest first. */
  entries: TranscriptEntry[];
  /** False: there are more before them. */
  isWhole: boolean;
}

const BLOCK_BYTES = 256 * 1024;
const LINE_FEED = 10;

/**
 * As many of the newest entries as `isEnough` asks for, which is told of each, newest first.
 * Undefined when the file has to be read whole: it is of an older version, a line is damaged, a
 * write was interrupted, or a parent is missing. Throws what the file system throws.
 */
export async function readNewest(
  file: string,
  isEnough: (entry: TranscriptEntry) => boolean,
): Promise<NewestEntries | undefined> {
  const size = await sizeOf(file);
  const first = await readHeaderLine(file, size);
  if (first?.header.version !== TRANSCRIPT_VERSION) return undefined;
  const { header } = first;
  const entries: TranscriptEntry[] = [];
  const passed = new Set<string>();
  let wanted: string | null | undefined;
  let linesAfter = 0;
  for await (const line of linesFromEnd(file, { from: first.end, to: size })) {
    if (line.trim() === "") continue;
    const parsed = parseTranscriptLine(line);
    if (parsed.kind !== "entry" || (groupSize(line) ?? 0) > linesAfter + 1) return undefined;
    linesAfter++;
    const entry = withoutDeepParts(withoutGroup(parsed.entry));
    passed.add(entry.id);
    if (wanted !== undefined && entry.id !== wanted) continue;
    entries.push(entry);
    wanted = entry.parentId;
    if (wanted === null) break;
    // Of two entries with one id the later counts.
    if (passed.has(wanted)) return undefined;
    if (isEnough(entry)) return { header, entries: entries.reverse(), isWhole: false };
  }
  return wanted === null ? { header, entries: entries.reverse(), isWhole: true } : undefined;
}

async function sizeOf(file: string): Promise<number> {
  const handle = await open(file, "r");
  try {
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

/** With the place behind its line feed; undefined when the file does not begin with one. */
async function readHeaderLine(
  file: string,
  size: number,
): Promise<{ header: TranscriptHeader; end: number } | undefined> {
  const block = await readFilePart(file, 0, Math.min(BLOCK_BYTES, size));
  const feed = block.indexOf(LINE_FEED);
  const parsed = feed < 0 ? undefined : parseTranscriptLine(block.toString("utf8", 0, feed));
  return parsed?.kind === "header" ? { header: parsed.header, end: feed + 1 } : undefined;
}

/** The last line first; what follows the last line feed is a line, too. */
async function* linesFromEnd(file: string, { from, to }: { from: number; to: number }) {
  // Of the line whose beginning was not read yet.
  let rest: Buffer[] = [];
  for (let end = to; end > from; ) {
    const start = Math.max(from, end - BLOCK_BYTES);
    const block = await readFilePart(file, start, end);
    let lineEnd = block.length;
    for (
      let feed = block.lastIndexOf(LINE_FEED);
      feed >= 0;
      feed = feed === 0 ? -1 : block.lastIndexOf(LINE_FEED, feed - 1)
    ) {
      const line = Buffer.concat([block.subarray(feed + 1, lineEnd), ...rest]);
      [rest, lineEnd] = [[], feed];
      yield line.toString("utf8");
      await pause();
    }
    if (lineEnd > 0) rest.unshift(block.subarray(0, lineEnd));
    end = start;
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString("utf8");
}
