// The file `sessions.json`, a cache of which transcript each session key stands for.
import type { BigIntStats } from "node:fs";
import { open, readdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { refuseLinkedFolders } from "../home/no-links.ts";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import { storageFailed } from "../storage-error.ts";
import { archivedKey, isSafeId } from "./keys.ts";
import { agentPaths, fileOf } from "./paths.ts";

const IndexEntrySchema = z.looseObject({
  sessionId: z.string().refine(isSafeId, "not a session id"),
});
const IndexSchema = z.record(z.string(), IndexEntrySchema);

/** Session key → current transcript; the shape of OpenClaw's file, whose other fields are kept. */
export type SessionIndex = Readonly<z.infer<typeof IndexSchema>>;

/** What was read last, by file. Of ten thousand sessions nobody waits for again and again. */
const lastRead = new Map<string, { stamp: string; index: SessionIndex }>();

/** A file that was written just now may be written again within the same tick of its clock. */
const SETTLED_MS = 100;

/** The stored index, or null when there is none or it cannot be used. */
export async function readIndex(home: string, agentId: string): Promise<SessionIndex | null> {
  const file = agentPaths(home, agentId).index;
  try {
    const stamp = stampOf(await stat(file, { bigint: true }));
    const known = lastRead.get(file);
    if (stamp !== undefined && known?.stamp === stamp) return known.index;
    const index = IndexSchema.parse(fromJson(await readFile(file, "utf8")));
    if (stamp !== undefined) lastRead.set(file, { stamp, index });
    return index;
  } catch {
    return null;
  }
}

/** Another one for each time that the file was written; undefined: it is too early to tell. */
const stampOf = ({ ino, size, mtimeMs, mtimeNs }: BigIntStats): string | undefined =>
  Date.now() - Number(mtimeMs) < SETTLED_MS ? undefined : `${ino} ${size} ${mtimeNs}`;

/** Throws STORAGE_FAILED. */
export async function writeIndex(
  home: string,
  agentId: string,
  index: SessionIndex,
): Promise<void> {
  const file = agentPaths(home, agentId).index;
  try {
    refuseLinkedFolders(home, dirname(file));
    await writeOwn(file, `${toJson(index, null, 2)}\n`);
  } catch (error) {
    throw storageFailed(`The list of sessions ${file} could not be written`, error);
  }
}

/**
 * `index` completed by the transcripts it does not name. The newest transcript of a key is the
 * key's; older ones get an archived key each. Reads one line of each such file. `ids`: those that
 * have a transcript. Absent: the folder is read.
 */
export async function completeIndex(
  home: string,
  agentId: string,
  index: SessionIndex,
  ids?: readonly string[],
): Promise<SessionIndex> {
  const folder = agentPaths(home, agentId).sessions;
  const known = new Set(Object.values(index).map(({ sessionId }) => sessionId));
  const there = ids ?? (await listTranscripts(folder));
  const unknown = there.filter((sessionId) => !known.has(sessionId));
  const found = await Promise.all(
    unknown.map((sessionId) => readSessionHead(folder, sessionId, agentId)),
  );
  const newestFirst = found
    .filter((head) => head !== null)
    .sort((a, b) => b.timestamp.localeCompare(a.timestamp));
  const completed = { ...index };
  for (const { key, sessionId, timestamp } of newestFirst) {
    const free = Object.hasOwn(completed, key) ? freeArchivedKey(completed, key, timestamp) : key;
    completed[free] = { sessionId };
  }
  return completed;
}

/**
 * `index` after `key` moved on to `sessionId`: what it stood for until now is listed under an
 * archived key, if there is a transcript.
 */
export async function moveKey(
  home: string,
  agentId: string,
  index: SessionIndex,
  key: string,
  sessionId: string,
): Promise<SessionIndex> {
  const before = index[key]?.sessionId;
  const head =
    before === undefined
      ? null
      : await readSessionHead(agentPaths(home, agentId).sessions, before, agentId);
  const archived =
    head === null
      ? {}
      : {
          [freeArchivedKey(index, key, head.timestamp)]: {
            ...withoutLabel(index[key]),
            sessionId: head.sessionId,
          },
        };
  // What people call it goes on with the key.
  const label = labelIn(index[key]);
  return {
    ...index,
    ...archived,
    [key]: { sessionId, ...(label !== undefined && { label }) },
  };
}

/** Pure. OpenClaw's name for it; undefined: nobody gave one. */
export function labelIn(entry: SessionIndex[string] | undefined): string | undefined {
  const { label } = (entry ?? {}) as { label?: unknown };
  return typeof label === "string" && label !== "" ? label : undefined;
}

function withoutLabel(entry: SessionIndex[string] | undefined): object {
  const { label: _label, ...others } = (entry ?? {}) as { label?: unknown };
  return others;
}

function freeArchivedKey(index: SessionIndex, key: string, timestamp: string): string {
  const wanted = archivedKey(key, timestamp);
  let free = wanted;
  for (let number = 2; Object.hasOwn(index, free); number++) free = `${wanted}-${number}`;
  return free;
}

/** Session ids that have a transcript in `folder`. */
export async function listTranscripts(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => name.slice(0, -".jsonl".length))
      .filter(isSafeId);
  } catch {
    return [];
  }
}

interface SessionHead {
  key: string;
  sessionId: string;
  /** ISO 8601. */
  timestamp: string;
}

const HeadSchema = z.looseObject({
  type: z.literal("session"),
  timestamp: z.string(),
  sessionKey: z.string().optional(),
});

async function readSessionHead(
  folder: string,
  sessionId: string,
  agentId: string,
): Promise<SessionHead | null> {
  const handle = await open(fileOf(folder, sessionId), "r").catch(() => null);
  if (handle === null) return null;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0);
    const line = buffer.toString("utf8", 0, bytesRead).split("\n", 1)[0] ?? "";
    const head = HeadSchema.safeParse(fromJson(line));
    if (!head.success) return null;
    return {
      key: head.data.sessionKey ?? `agent:${agentId}:${sessionId}`,
      sessionId,
      timestamp: head.data.timestamp,
    };
  } catch {
    return null;
  } finally {
    await handle.close();
  }
}
