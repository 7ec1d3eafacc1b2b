// Reads and makes the file that says where in a session file each entry stands.
import { readFile, stat } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { inSlices } from "@clew/plugin-sdk/host";
import type { TranscriptHeader } from "@clew/plugin-sdk/transcript";
import { writeOwn } from "../home/own-writes.ts";
import {
  type CheckpointLine,
  type FileStamp,
  formatHead,
  formatLine,
  type PlacedEntry,
  parseHead,
  parseLine,
} from "./checkpoint-lines.ts";
import { crcOfPart, readFilePart } from "./file-lines.ts";

/** Where it is kept. */
export const checkpointFile = (sessionFile: string): string => `${sessionFile}.checkpoint`;

/** What a checkpoint says of a session file. */
export interface Checkpoint {
  header: TranscriptHeader;
  /** Of all entries, in file order. */
  lines: CheckpointLine[];
  /** The newest. */
  stamp: FileStamp;
}

export type CheckpointFound =
  | { kind: "absent" }
  /** A line of it is none of ours. */
  | { kind: "damaged" }
  | { kind: "read"; checkpoint: Checkpoint };

/** Rows written in one line. */
const ROWS_PER_LINE = 500;

/** In slices. */
export async function readCheckpoint(sessionFile: string): Promise<CheckpointFound> {
  const bytes = await readFile(checkpointFile(sessionFile)).catch(() => null);
  if (bytes === null) return { kind: "absent" };
  const [head, ...texts] = linesOf(bytes);
  const header = head && parseHead(head);
  if (header === undefined) return { kind: "damaged" };
  const parsed: CheckpointLine[] = [];
  let isWhole = true;
  await inSlices(texts, (text) => {
    const line = isWhole ? parseLine(text) : undefined;
    isWhole = line !== undefined;
    if (line !== undefined) parsed.push(line);
  });
  const stamp = parsed.at(-1)?.stamp;
  return isWhole && stamp !== undefined
    ? { kind: "read", checkpoint: { header, lines: parsed, stamp } }
    : { kind: "damaged" };
}

/** What follows the last line feed was cut off by a crash: the file is not as they say then. */
function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf("\n"); end >= 0; end = bytes.indexOf("\n", start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

/**
 * The checkpoint, if the session file is as it says: not touched since, or of the same bytes.
 * Undefined: it has to be made again.
 */
export async function currentCheckpoint(sessionFile: string): Promise<Checkpoint | undefined> {
  const found = await readCheckpoint(sessionFile);
  if (found.kind !== "read") return undefined;
  const { checkpoint } = found;
  const now = await statOf(sessionFile);
  if (now === undefined || now.size !== checkpoint.stamp.size) return undefined;
  const { ctime, inode } = checkpoint.stamp;
  if (now.ctime === ctime && now.inode === inode) return checkpoint;
  const crc = await crcOfPart(sessionFile, 0, now.size);
  const { end } = checkpoint.stamp;
  return crc === checkpoint.stamp.crc ? { ...checkpoint, stamp: { ...now, crc, end } } : undefined;
}

/** Writes it whole, in slices; undefined when that is not possible. */
export async function makeCheckpoint(
  sessionFile: string,
  {
    header,
    placed,
    size,
  }: { header: TranscriptHeader; placed: readonly PlacedEntry[]; size: number },
): Promise<FileStamp | undefined> {
  try {
    const now = await statOf(sessionFile);
    if (now === undefined || now.size !== size) return undefined;
    const end = await endOf(sessionFile, { size, length: Math.min(size, END_BYTES) });
    const stamp = { ...now, crc: await crcOfPart(sessionFile, 0, size), end };
    const lines = [formatHead(header)];
    await inSlices(await groupsOf(placed), (group) => {
      const before = placed[group.from - 1]?.entry.id ?? null;
      lines.push(formatLine(placed.slice(group.from, group.to), { before, stamp }));
    });
    await writeOwn(checkpointFile(sessionFile), lines.join(""), { fsync: false });
    return stamp;
  } catch {
    return undefined;
  }
}

/** Entries of one line each: without a gap between them, and not too many. */
async function groupsOf(placed: readonly PlacedEntry[]): Promise<{ from: number; to: number }[]> {
  const groups: { from: number; to: number }[] = [];
  let index = 0;
  let before: PlacedEntry | undefined;
  await inSlices(placed, (one) => {
    const last = groups.at(-1);
    const follows = before !== undefined && before.start + before.length + 1 === one.start;
    if (last !== undefined && follows && index - last.from < ROWS_PER_LINE) last.to = index + 1;
    else groups.push({ from: index, to: index + 1 });
    index++;
    before = one;
  });
  return groups;
}

/** More would be read each time, and less might be what another file ends with, too. */
const END_BYTES = 64 * 1024;

/** The last `length` of the first `size` bytes. */
export async function endOf(
  file: string,
  { size, length }: { size: number; length: number },
): Promise<FileStamp["end"]> {
  return { length, crc: crc32(await readFilePart(file, size - length, size)) };
}

/** Undefined when there is no file. */
export async function statOf(file: string): Promise<Omit<FileStamp, "crc" | "end"> | undefined> {
  const found = await stat(file, { bigint: true }).catch(() => undefined);
  return found === undefined
    ? undefined
    : {
        size: Number(found.size),
        ctime: String(found.ctimeNs),
        inode: `${found.dev}:${found.ino}`,
      };
}
