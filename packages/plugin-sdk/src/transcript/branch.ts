// The active branch of a transcript, from the root to the leaf.
import type { TranscriptEntry } from "./entries.ts";

/**
 * The path from the root to `leafId` (default: the last entry), oldest first. Linear in the number
 * of entries. An unknown parent ends the path there, so that a damaged file still shows its newest
 * part; a cycle ends it too.
 */
export function activeBranch(
  entries: readonly TranscriptEntry[],
  leafId?: string | null,
): TranscriptEntry[] {
  if (leafId === null) return [];
  const leaf = leafId === undefined ? entries.at(-1)?.id : leafId;
  if (isLinear(entries) && leaf === entries.at(-1)?.id) return entries.slice();
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: TranscriptEntry[] = [];
  const seen = new Set<string>();
  for (let id: string | null | undefined = leaf; id != null && !seen.has(id); ) {
    seen.add(id);
    const entry = byId.get(id);
    if (entry === undefined) break;
    path.push(entry);
    id = entry.parentId;
  }
  return path.reverse();
}

function isLinear(entries: readonly TranscriptEntry[]): boolean {
  return entries.every(
    (entry, index) => entry.parentId === (index === 0 ? null : entries[index - 1]!.id),
  );
}
