// The message that a stored entry stands for.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import {
  buildContext,
  pruneRecordOf,
  type SessionProjection,
  sessionProjections,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";

/** As a context holds it, before any record; undefined: the entry says nothing. */
export function messageOf(entry: TranscriptEntry | undefined): AgentMessage | undefined {
  if (entry === undefined) return undefined;
  if (entry.type === "message") return entry.message;
  return buildContext([entry]).items[0]?.message;
}

/** What records of a branch say of its tool results. */
export interface ResultRecords {
  /** Placeholder and reason of a prune, by entry; the first record counts. */
  cleared: ReadonlyMap<string, { words: string; rule: string }>;
  trimmed: ReadonlyMap<string, SessionProjection>;
}

/** Pure. */
export function recordsOf(branch: readonly TranscriptEntry[]): ResultRecords {
  const cleared = new Map<string, { words: string; rule: string }>();
  for (const entry of branch) {
    const record = pruneRecordOf(entry);
    for (const id of record?.entryIds ?? [])
      if (!cleared.has(id))
        cleared.set(id, { words: record!.placeholder, rule: `prune (${record!.reason})` });
  }
  const projections = sessionProjections(branch).map(
    (projection) => [projection.entryId, projection] as const,
  );
  return { cleared, trimmed: new Map(projections) };
}

/** The rule of records that a host makes while a provider's cache is cold. */
export const CONTEXT_PRUNING = "contextPruning";

/** What stands in the place of a result that a record clears; null = none does. */
export function placeholderOf(
  entryId: string,
  { cleared, trimmed }: ResultRecords,
): { words: string; rule: string } | null {
  const projection = trimmed.get(entryId);
  if (projection?.kind === "hard")
    return cleared.get(entryId) ?? { words: projection.placeholder, rule: CONTEXT_PRUNING };
  return cleared.get(entryId) ?? null;
}
