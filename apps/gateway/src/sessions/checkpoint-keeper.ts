// Keeps the checkpoint of an open session in step with its file.
import { type FileHandle, open, rm } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { TranscriptEntry, TranscriptHeader } from "@clew/plugin-sdk/transcript";
import { TO_APPEND } from "../home/no-links.ts";
import { checkpointFile, makeCheckpoint, statOf } from "./checkpoint.ts";
import { type FileStamp, formatLine, type PlacedEntry } from "./checkpoint-lines.ts";

/** What was just written at the end of a session file. */
export interface WrittenLines {
  entries: readonly TranscriptEntry[];
  /** With their line feeds, in the same order. */
  lines: readonly string[];
  /** The line before them, if the file was new; else "". */
  head: string;
}

export interface CheckpointKeeper {
  /**
   * To be asked before a write: without it what another program did to the file would be hidden by
   * the time of our own. Once it was touched, the file is read whole at the next opening.
   */
  lookBefore(): Promise<void>;
  /** Resolves when the checkpoint says so too. Never rejects: it is only a cache. */
  wrote(written: WrittenLines): Promise<void>;
  /** Another program changed the session file: what is known is of another one. */
  letGo(): Promise<void>;
  /** Makes it for a session that grew large, and anew where it has grown by many lines. */
  close(header: TranscriptHeader): Promise<void>;
}

export interface KeeperOptions {
  sessionFile: string;
  /** Of the session file, bytes. */
  size: number;
  /** All entries of the file; undefined when not every line of it is one: no checkpoint then. */
  placed: PlacedEntry[] | undefined;
  /** Smaller files are read as fast without one. */
  minBytes: number;
  /** The checkpoint that there is. Absent: none. */
  current?: { stamp: FileStamp; lines: number } | undefined;
}

/** Lines after which it is written anew, so that reading it costs what its entries cost. */
const MAX_LINES = 2000;

/** In slices; resolves when there is a checkpoint, if there is to be one. */
export async function keepCheckpoint(
  options: KeeperOptions & { header: TranscriptHeader | undefined },
): Promise<CheckpointKeeper> {
  const { sessionFile, minBytes, placed, header } = options;
  let { size } = options;
  let lines = options.current?.lines ?? 0;
  let writer = options.current && appendTo(sessionFile, options.current.stamp);
  const make = async (head: TranscriptHeader) => {
    if (placed === undefined || size < minBytes) return;
    const stamp = await makeCheckpoint(sessionFile, { header: head, placed, size });
    writer = stamp && appendTo(sessionFile, stamp);
    lines = 0;
  };
  if (writer === undefined && header !== undefined) await make(header);
  let isTouched = false;
  return {
    async lookBefore() {
      if (writer === undefined || isTouched) return;
      isTouched = !(await writer.isUntouched());
      if (isTouched) await writer.remove();
    },
    async wrote({ entries, lines: texts, head }) {
      const bytes = Buffer.from(head + texts.join(""), "utf8");
      const before = placed?.at(-1)?.entry.id ?? null;
      const added = placesOf(entries, texts, size + Buffer.byteLength(head));
      size += bytes.length;
      for (const each of added) placed?.push(each);
      lines++;
      await writer?.append({ placed: added, before, bytes });
    },
    async letGo() {
      await writer?.remove();
      await writer?.close();
    },
    async close(head) {
      await writer?.close();
      if (!isTouched && (writer === undefined || lines > MAX_LINES)) await make(head);
      await writer?.close();
    },
  };
}

function placesOf(
  entries: readonly TranscriptEntry[],
  lines: readonly string[],
  from: number,
): PlacedEntry[] {
  let start = from;
  return entries.map((entry, index) => {
    const bytes = Buffer.byteLength(lines[index]!);
    const placed = { entry, start, length: bytes - 1 };
    start += bytes;
    return placed;
  });
}

interface AppendedLine {
  placed: readonly PlacedEntry[];
  /** The entry before them. */
  before: string | null;
  bytes: Uint8Array;
}

/** Adds lines to a checkpoint whose last one bears `stamp`; one that fails is removed. */
function appendTo(sessionFile: string, stamp: FileStamp) {
  const path = checkpointFile(sessionFile);
  let { crc, end, size, ctime, inode } = stamp;
  let handle: FileHandle | undefined;
  let isBroken = false;
  const remove = async () => {
    isBroken = true;
    await rm(path, { force: true }).catch(() => {});
  };
  const write = async ({ placed, before }: AppendedLine) => {
    const now = await statOf(sessionFile);
    if (now?.size !== size) throw new Error("another program changed the session file");
    handle ??= await open(path, TO_APPEND, 0o600);
    await handle.appendFile(formatLine(placed, { before, stamp: { ...now, crc, end } }));
    ({ ctime, inode } = now);
  };
  return {
    remove,
    async isUntouched() {
      const now = await statOf(sessionFile);
      return now?.size === size && now.ctime === ctime && now.inode === inode;
    },
    async append(line: AppendedLine) {
      crc = crc32(line.bytes, crc);
      end = { length: line.bytes.length, crc: crc32(line.bytes) };
      size += line.bytes.length;
      if (isBroken) return;
      await write(line).catch(remove);
    },
    async close() {
      await handle?.close().catch(() => {});
      handle = undefined;
    },
  };
}
