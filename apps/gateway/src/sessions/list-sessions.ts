// Lists the sessions of a home, and reads no transcript for it.
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { completeIndex, readIndex } from "./index-file.ts";
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
}

/** Newest first. */
export async function listSessions(home: string): Promise<SessionSummary[]> {
  const agents = await listAgents(home);
  const found = await Promise.all(agents.map((agentId) => listAgentSessions(home, agentId)));
  return found.flat().sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
}

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

async function listAgentSessions(home: string, agentId: string): Promise<SessionSummary[]> {
  const index = await completeIndex(home, agentId, (await readIndex(home, agentId)) ?? {});
  const summaries = await Promise.all(
    Object.entries(index).map(([key, { sessionId }]) => summarize(home, agentId, key, sessionId)),
  );
  return summaries.filter((summary) => summary !== null);
}

/** Null when the key has no transcript yet. A link is none: it may lead anywhere. */
export async function summarize(
  home: string,
  agentId: string,
  key: string,
  sessionId: string,
): Promise<SessionSummary | null> {
  const file = transcriptFile(home, agentId, sessionId);
  const found = await lstat(file).catch(() => null);
  return found === null || found.isSymbolicLink() || found.size === 0
    ? null
    : { key, agentId, sessionId, file, bytes: found.size, updatedAt: found.mtime.toISOString() };
}
