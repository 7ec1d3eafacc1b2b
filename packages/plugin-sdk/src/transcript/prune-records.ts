// The appended entry that makes a prune last, and how a context applies it.
import { z } from "zod";
import type { ContextItem } from "./context-item.ts";
import type { NewTranscriptEntry, TranscriptEntry } from "./entries.ts";
import { clearedResult, type PrunePlan } from "./prune.ts";

/** `customType` of the entry that remembers a prune. */
export const PRUNE_ENTRY_TYPE = "clew.prune";

const PruneRecordSchema = z.object({
  v: z.literal(1),
  entryIds: z.array(z.string()),
  placeholder: z.string(),
  tokensFreed: z.number(),
  reason: z.string(),
});

/**
 * Data of a `clew.prune` entry. The entries it names stay as they were written;
 * leaving its branch undoes it.
 */
export type PruneRecord = z.infer<typeof PruneRecordSchema>;

/**
 * What `plan`, made from these items' messages, is recorded as. `reason`: what asked for it, in a
 * few words without content.
 */
export function pruneEntry(
  items: readonly ContextItem[],
  plan: PrunePlan,
  reason: string,
): NewTranscriptEntry {
  const entryIds = plan.clear.map((index) => items[index]!.entryId);
  const data: PruneRecord = {
    v: 1,
    entryIds,
    placeholder: plan.placeholder,
    tokensFreed: plan.freed,
    reason,
  };
  return { type: "custom", customType: PRUNE_ENTRY_TYPE, data };
}

/**
 * The record an entry holds; undefined for any other entry and for data of a form we do not know.
 */
export function pruneRecordOf(entry: TranscriptEntry | undefined): PruneRecord | undefined {
  if (entry?.type !== "custom" || entry.customType !== PRUNE_ENTRY_TYPE) return undefined;
  return PruneRecordSchema.safeParse(entry.data).data;
}

/**
 * The items with everything cleared that a record of `branch` names; the same array when that is
 * nothing. The first record of an entry counts, so that its bytes never change again. Pure, and the
 * same after a restart: time and placeholder come from the record's entry.
 */
export function applyPruneRecords(
  items: readonly ContextItem[],
  branch: readonly TranscriptEntry[],
): readonly ContextItem[] {
  const cleared = new Map<string, { placeholder: string; prunedAt: number | undefined }>();
  for (const entry of branch) {
    const record = pruneRecordOf(entry);
    if (record === undefined) continue;
    const at = Date.parse(entry.timestamp);
    const mark = { placeholder: record.placeholder, prunedAt: Number.isNaN(at) ? undefined : at };
    for (const id of record.entryIds) if (!cleared.has(id)) cleared.set(id, mark);
  }
  if (cleared.size === 0) return items;
  return items.map((item) => {
    const mark = cleared.get(item.entryId);
    if (mark === undefined || item.message.role !== "toolResult") return item;
    const message = clearedResult(item.message, mark.placeholder, mark.prunedAt);
    return { ...item, message, isPruned: true };
  });
}
