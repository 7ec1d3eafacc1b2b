// Reads a session file as the lines that a database keeps, mended in a draft if need be.
import { hash } from "node:crypto";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { TRANSCRIPT_VERSION, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { CopiedEntry } from "@clew/store-postgres";
import { lookWhileReading } from "@clew/transcript-policy/session-file";
import { formatEntries, formatHeader } from "../../sessions/entry-lines.ts";
import { readFileLines, readFilePart } from "../../sessions/file-lines.ts";
import { readMended } from "../../sessions/mended-file.ts";
import { type FileContent, readSessionFile } from "../../sessions/read-file.ts";
import { readShort } from "../../sessions/read-short.ts";
import { lookForDamage } from "../../sessions/repair.ts";
import { branchPlaces } from "./branch-places.ts";

/** A session file, every line of which but the first one is an entry. */
export interface ReadLines {
  /** The first line. */
  header: string;
  /** How many entries it has. */
  head: number;
  lastEntry: string | null;
  branch: [from: number, to: number | null][];
  /** Of its entries, with a line feed each. */
  bytes: number;
  /** SHA-256 of each entry's line, in hex. */
  hashes: readonly string[];
  /** False: the file itself is not what these lines say, byte for byte. */
  isWhole: boolean;
  /** Entries behind the first `after`, some at a time. */
  entries(after: number): AsyncIterable<readonly CopiedEntry[]>;
  /** To be called at the end. */
  forget(): Promise<void>;
}

const BATCH_BYTES = 2 * 2 ** 20;
const BATCH_ENTRIES = 2000;
const ROLES = ["", "user", "assistant", "toolResult"];

/** Null: it is no session file, or an empty one. Throws what the file system does. */
export async function readLines(file: string, signal: AbortSignal): Promise<ReadLines | null> {
  const orderly = await readOrderly(file, signal);
  if (orderly !== "odd") return orderly;
  const folder = await mkdtemp(join(tmpdir(), "clew-copy-"));
  const forget = () => rm(folder, { recursive: true, force: true });
  try {
    const mended = join(folder, "session.jsonl");
    await copyFile(file, mended);
    const { header, entries } = await readMended(mended);
    if (header === undefined) return await nothing(forget);
    let lines = await readOrderly(mended, signal);
    if (lines === "odd") {
      // Lines that nobody can read stay in a file, and are of no use in a log.
      await writeFile(mended, formatHeader(header) + formatEntries(entries).join(""));
      lines = await readOrderly(mended, signal, { mended: true });
    }
    if (lines === null || lines === "odd") return await nothing(forget);
    return { ...lines, isWhole: false, forget };
  } catch (error) {
    await forget();
    if (ContextEngineError.is(error, "TRANSCRIPT_UNREADABLE")) return null;
    throw error;
  }
}

async function nothing(forget: () => Promise<void>): Promise<null> {
  await forget();
  return null;
}

/** "odd": a line of it is not what a gateway would leave. */
async function readOrderly(
  file: string,
  signal: AbortSignal,
  { mended = false } = {},
): Promise<ReadLines | null | "odd"> {
  const look = await lookWhileReading(file);
  const short = await readShort(file);
  const found = await readSessionFile(file, { look, onEntry: short?.onEntry });
  signal.throwIfAborted();
  if (found.kind === "empty") return null;
  if (found.kind === "not-a-transcript") return "odd";
  const { content, fileBytes } = found;
  if (!isOrderly(content, fileBytes)) return "odd";
  const isInOrder = mended || (await look?.orderly()) !== undefined;
  if (!isInOrder && (await lookForDamage(file)).code === "dry-run") return "odd";
  return linesOf(file, content, signal);
}

function isOrderly(content: FileContent, fileBytes: number): boolean {
  const { version, goodBytes, missingNewline, unreadableLines, places } = content;
  return (
    version === TRANSCRIPT_VERSION &&
    goodBytes === fileBytes &&
    !missingNewline &&
    unreadableLines.length === 0 &&
    places !== undefined &&
    // A database has no character of this kind.
    content.entries.every(({ id }) => !id.includes("\0"))
  );
}

async function linesOf(
  file: string,
  { entries, places = [] }: FileContent,
  signal: AbortSignal,
): Promise<ReadLines | "odd"> {
  let header: string | undefined;
  let isText = true;
  let at = 0;
  let bytes = 0;
  const hashes: string[] = [];
  await readFileLines(file, {}, (line, start) => {
    signal.throwIfAborted();
    const text = line.toString("utf8");
    isText &&= Buffer.byteLength(text) === line.length && Buffer.from(text).equals(line);
    if (header === undefined) header = text;
    else if (start !== places[at]?.start) isText = false;
    else {
      at += 1;
      bytes += line.length + 1;
      hashes.push(hash("sha256", line));
    }
  });
  if (header === undefined || !isText || at !== entries.length) return "odd";
  return {
    ...{ header, bytes, hashes, isWhole: true, head: entries.length },
    lastEntry: entries.at(-1)?.id ?? null,
    branch: branchPlaces(entries),
    entries: (after) => batches(file, { entries, places, hashes }, after),
    forget: async () => {},
  };
}

interface Placed {
  entries: readonly TranscriptEntry[];
  places: NonNullable<FileContent["places"]>;
  hashes: readonly string[];
}

async function* batches(file: string, { entries, places, hashes }: Placed, after: number) {
  for (let from = after; from < entries.length; ) {
    let to = from;
    let bytes = 0;
    while (to < entries.length && to - from < BATCH_ENTRIES && (to === from || bytes < BATCH_BYTES))
      bytes += places[to++]!.length + 1;
    const { start } = places[from]!;
    const last = places[to - 1]!;
    const part = await readFilePart(file, start, last.start + last.length);
    const batch: CopiedEntry[] = [];
    for (let at = from; at < to; at++) {
      const entry = entries[at]!;
      const place = places[at]!;
      const body = part.toString("utf8", place.start - start, place.start - start + place.length);
      batch.push({ ...rowOf(entry), body, hash: hashes[at]! });
    }
    yield batch;
    from = to;
  }
}

function rowOf(entry: TranscriptEntry) {
  const role = entry.type === "message" ? ROLES.indexOf(entry.message.role) : 0;
  const ts = Date.parse(entry.timestamp);
  return { id: entry.id, role: role < 0 ? ROLES.length : role, ts: Number.isNaN(ts) ? 0 : ts };
}
