// Says what a list tells of a session, and reads no transcript for it.
import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { labelIn, readIndex, type SessionIndex } from "./index-file.ts";
import { isSafeId } from "./keys.ts";
import { transcriptFile } from "./paths.ts";

export interface SessionSummary {
  key: string;
  agentId: string;
  sessionId: string;
  file: string;
  bytes: number;
  /** ISO 8601; last write. */
  updatedAt: string;
  /** What people call it. Absent: they gave it no name but its key. */
  label?: string;
}

/** Pure. By time, and by key where that is the same, so that a place in the list has a name. */
export const newestFirst = (one: ListPlace, other: ListPlace): number =>
  one.updatedAt === other.updatedAt
    ? one.key < other.key
      ? -1
      : Number(one.key > other.key)
    : one.updatedAt > other.updatedAt
      ? -1
      : 1;

export type ListPlace = Pick<SessionSummary, "key" | "updatedAt">;

export async function listAgents(home: string): Promise<string[]> {
  try {
    const entries = await readdir(join(home, "agents"), { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && isSafeId(entry.name))
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Null when the key has no transcript yet. A link is none: it may lead anywhere. */
export async function summarize(
  home: string,
  agentId: string,
  key: string,
  sessionId: string,
): Promise<SessionSummary | null> {
  const file = transcriptFile(home, agentId, sessionId);
  const index = await readIndex(home, agentId);
  const found = await lstat(file).catch(() => undefined);
  return summaryOf({ key, agentId, sessionId, file, ...labelled(index?.[key]) }, found);
}

/** What people call it, as the index says. */
export const labelled = (entry: SessionIndex[string] | undefined): { label?: string } => {
  const label = labelIn(entry);
  return label === undefined ? {} : { label };
};

/** The same of a file that was looked at. */
export const summaryOf = (
  named: Omit<SessionSummary, "bytes" | "updatedAt">,
  found: Stats | undefined,
): SessionSummary | null =>
  found === undefined || found.isSymbolicLink() || found.size === 0
    ? null
    : { ...named, bytes: found.size, updatedAt: found.mtime.toISOString() };
