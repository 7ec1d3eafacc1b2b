// Adds to a checkpoint what its session file has grown by since.
import { crc32 } from "node:zlib";
import { parseTranscriptLine, type TranscriptEntry, withOrigin } from "@clew/plugin-sdk/transcript";
import { type DamageLook, lookWhileReading } from "@clew/transcript-policy/session-file";
import { appendOwn } from "../home/own-writes.ts";
import { type Checkpoint, checkpointFile, endOf, readCheckpoint, statOf } from "./checkpoint.ts";
import { forEachRow, formatLine, originOf, type PlacedEntry } from "./checkpoint-lines.ts";
import { groupSizeIn, withoutGroup } from "./entry-lines.ts";
import { readFileLines } from "./file-lines.ts";

/**
 * To be called under the session's lock. A process that is killed between its two writes leaves a
 * file that goes on behind its checkpoint: only that part is read, and the checkpoint says so then.
 * False: there is none of a shorter file with the same end, or what follows is not in order.
 */
export async function growCheckpoint(sessionFile: string): Promise<boolean> {
  const now = await statOf(sessionFile);
  const found = await readCheckpoint(sessionFile);
  if (now === undefined || found.kind !== "read") return false;
  const { stamp } = found.checkpoint;
  if (now.size <= stamp.size || now.inode !== stamp.inode) return false;
  const { crc } = await endOf(sessionFile, { size: stamp.size, length: stamp.end.length });
  if (crc !== stamp.end.crc) return false;
  const grown = await readGrowth(sessionFile, found.checkpoint, now.size);
  if (grown === undefined) return false;
  const line = formatLine(grown.placed, {
    before: grown.before,
    stamp: { ...now, crc: crc32(grown.bytes, stamp.crc), end: endIn(grown.bytes) },
  });
  return appendOwn(checkpointFile(sessionFile), line).then(
    () => true,
    () => false,
  );
}

const endIn = (bytes: Buffer) => ({ length: bytes.length, crc: crc32(bytes) });

interface Growth {
  placed: PlacedEntry[];
  bytes: Buffer;
  /** The entry before them. */
  before: string | null;
}

/** Undefined: it has to be read with what stands before it. */
async function readGrowth(
  sessionFile: string,
  checkpoint: Checkpoint,
  to: number,
): Promise<Growth | undefined> {
  const look = await lookWhileReading(sessionFile);
  if (look === undefined) return undefined;
  look.add(Buffer.alloc(0), checkpoint.header);
  const { ids, origins, last } = namesIn(checkpoint);
  const added = new Set<string>();
  const placed: PlacedEntry[] = [];
  const lines: Buffer[] = [];
  let isOrderly = true;
  let open = 0;
  const take = (line: Buffer, start: number) => {
    lines.push(Buffer.from(line), LINE_FEED);
    const read = parseTranscriptLine(line.toString("utf8"));
    const entry = read.kind === "entry" ? read.entry : undefined;
    isOrderly &&= entry !== undefined && !ids.has(entry.id) && isKnown(entry, ids, added);
    if (!isOrderly || entry === undefined) return;
    tell(look, line, { entry, added });
    open = Math.max(open, groupSizeIn(entry) ?? 0) - 1;
    added.add(entry.id);
    const kept = withClaimed(withoutGroup(entry), origins);
    placed.push({ entry: kept, start, length: line.length });
  };
  const rest = await readFileLines(sessionFile, { from: checkpoint.stamp.size, to }, take);
  const isWhole = isOrderly && open <= 0 && rest.bytes.length === 0;
  if (!isWhole || (await look.orderly()) === undefined) return undefined;
  return { placed, bytes: Buffer.concat(lines), before: last };
}

const LINE_FEED = Buffer.from("\n");

const isKnown = ({ parentId }: TranscriptEntry, ids: Set<string>, added: Set<string>) =>
  parentId === null || ids.has(parentId) || added.has(parentId);

/** A parent that stands before this part is none to a look at the part alone. */
function tell(
  look: DamageLook,
  line: Buffer,
  { entry, added }: { entry: TranscriptEntry; added: Set<string> },
): void {
  const { parentId } = entry;
  look.add(line, parentId === null || added.has(parentId) ? entry : { ...entry, parentId: null });
}

/** Of two entries that claim the same origin the later one is its own. */
function withClaimed(entry: TranscriptEntry, origins: Set<string>): TranscriptEntry {
  const claimed = originOf(entry);
  const origin = origins.has(claimed) ? entry.id : claimed;
  origins.add(origin);
  return entry.type === "message" ? withOrigin(entry, origin) : entry;
}

function namesIn({ lines }: Checkpoint) {
  const ids = new Set<string>();
  const origins = new Set<string>();
  let last: string | null = null;
  for (const line of lines)
    forEachRow(line, last, ({ id, origin, role }) => {
      ids.add(id);
      if (role !== undefined) origins.add(origin);
      last = id;
    });
  return { ids, origins, last: last as string | null };
}
