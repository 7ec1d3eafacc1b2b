// The message that a stored entry stands for.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import {
  applyPrune,
  applySessionPrune,
  buildContext,
  pruneRecordOf,
  type SessionProjection,
  sessionProjections,
  type TranscriptEntry,
  textOf,
  withMessageId,
} from "@clew/plugin-sdk/transcript";

/** As a context holds it, before any record; undefined: the entry says nothing. */
export function messageOf(entry: TranscriptEntry | undefined): AgentMessage | undefined {
  if (entry === undefined) return undefined;
  if (entry.type === "message") return entry.message;
  return buildContext([entry]).items[0]?.message;
}

/** What records of a branch say of its tool results. */
export interface ResultRecords {
  /** How a prune shows results and why, by entry; the first record counts. */
  cleared: ReadonlyMap<string, { placeholder: string; rule: string }>;
  trimmed: ReadonlyMap<string, SessionProjection>;
}

/** Pure. */
export function recordsOf(branch: readonly TranscriptEntry[]): ResultRecords {
  const cleared = new Map<string, { placeholder: string; rule: string }>();
  for (const entry of branch) {
    const record = pruneRecordOf(entry);
    for (const id of record?.entryIds ?? [])
      if (!cleared.has(id))
        cleared.set(id, { placeholder: record!.placeholder, rule: `prune (${record!.reason})` });
  }
  const projections = sessionProjections(branch).map(
    (projection) => [projection.entryId, projection] as const,
  );
  return { cleared, trimmed: new Map(projections) };
}

/** The rule of records that a host makes while a provider's cache is cold. */
export const CONTEXT_PRUNING = "contextPruning";

/** A result as a record of the branch shows it, and the rule that made the record. */
export interface RecordedForm {
  words: string;
  rule: string;
  /** True: nothing of it is left. */
  isCleared: boolean;
}

/** Pure. Every form in which records may show a stored result; `id`: its message's. */
export function recordedForms(
  stored: AgentMessage,
  { entryId, id }: { entryId: string; id: () => string },
  { cleared, trimmed }: ResultRecords,
): RecordedForm[] {
  const forms: RecordedForm[] = [];
  const record = cleared.get(entryId);
  if (record !== undefined) {
    const { placeholder, rule } = record;
    const [shown] = applyPrune([withMessageId(stored, id())], { clear: [0], placeholder });
    forms.push({ words: textOf(shown!), rule, isCleared: true });
  }
  const projection = trimmed.get(entryId);
  if (projection !== undefined) {
    const [shown] = applySessionPrune([stored], [projection], () => entryId);
    const isCleared = projection.kind === "hard";
    forms.push({ words: textOf(shown!), rule: CONTEXT_PRUNING, isCleared });
  }
  return forms;
}
