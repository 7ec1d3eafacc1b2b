// Decides which messages a memory flush sees, and puts them in a transcript of their own.
import type { HostSession, TranscriptPort } from "@clew/engine-core";
import { partOfBranch } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import {
  buildContext,
  type NewTranscriptEntry,
  placeEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import type { CompactableSession } from "../../../sessions/open.ts";
import { firstUnseen } from "./flush-history.ts";

/**
 * Pure. The oldest that fit, because what is newest stays after a compaction; of whoever compacts
 * unseen what came since the last flush.
 */
export function planFlushView(
  branch: readonly TranscriptEntry[],
  { ownsCompaction, limitTokens }: { ownsCompaction: boolean; limitTokens: number },
): AgentMessage[] {
  const from = ownsCompaction ? firstUnseen(branch) : 0;
  const since = new Set(branch.slice(from).map(({ id }) => id));
  const view: AgentMessage[] = [];
  let tokens = 0;
  for (const { entryId, message } of buildContext(branch).items) {
    if (!since.has(entryId)) continue;
    tokens += estimateMessage(message).estimate;
    if (tokens > limitTokens) break;
    view.push(message);
  }
  return view;
}

/** In memory only; nothing of it comes into the session (compaction spec §3.5). */
export function detachedSession(
  { sessionFile: _, ...session }: HostSession,
  messages: readonly AgentMessage[],
): CompactableSession {
  let next = 0;
  let branch: readonly TranscriptEntry[] = [];
  const nextId = () => `flush-${next++}`;
  const add = (entries: readonly NewTranscriptEntry[]) => {
    const placed: TranscriptEntry[] = [];
    for (const entry of entries) {
      const parentId = placed.at(-1)?.id ?? branch.at(-1)?.id ?? null;
      const timestamp = new Date().toISOString();
      placed.push(placeEntry(entry, { id: nextId(), parentId, timestamp }));
    }
    branch = [...branch, ...placed];
    return placed;
  };
  add(messages.map((message) => ({ type: "message", message })));
  const append: TranscriptPort["append"] = async (entries) => add(entries);
  return {
    ...{ session, append },
    exists: () => false,
    read: async (part) => partOfBranch(branch, part),
    rewrite: async () => ({
      ...{ changed: false, bytesFreed: 0, rewrittenEntries: 0 },
      reason: "nothing of a memory flush is kept",
    }),
    compaction: {
      ledger: { read: () => undefined, write: () => {} },
      ...{ branch: () => branch, append, nextId },
      graft: () => Promise.reject(new Error("nothing of a memory flush is kept")),
    },
  };
}
