// Which ids inside an entry name other entries, for when entries are appended again.
import type { CustomEntry, TranscriptEntry } from "./entries.ts";
import { PRUNE_ENTRY_TYPE, pruneRecordOf } from "./prune-records.ts";
import { moveSessionPrune } from "./session-projection.ts";

/**
 * The entry with every id in it replaced by what `moved` says; the very entry where none changes.
 * Its own id and parent stay.
 */
export function moveReferences(
  entry: TranscriptEntry,
  moved: (id: string) => string,
): TranscriptEntry {
  switch (entry.type) {
    case "compaction":
    case "reset": {
      const { firstKeptEntryId } = entry;
      const kept = firstKeptEntryId === undefined ? undefined : moved(firstKeptEntryId);
      return kept === undefined || kept === firstKeptEntryId
        ? entry
        : { ...entry, firstKeptEntryId: kept };
    }
    case "label": {
      const targetId = moved(entry.targetId);
      return targetId === entry.targetId ? entry : { ...entry, targetId };
    }
    case "branch_summary": {
      const fromId = moved(entry.fromId);
      return fromId === entry.fromId ? entry : { ...entry, fromId };
    }
    case "custom":
      return entry.customType === PRUNE_ENTRY_TYPE
        ? movePrune(entry, moved)
        : moveSessionPrune(entry, moved);
    default:
      return entry;
  }
}

function movePrune(entry: CustomEntry, moved: (id: string) => string): CustomEntry {
  const record = pruneRecordOf(entry);
  if (record === undefined) return entry;
  const entryIds = record.entryIds.map(moved);
  return entryIds.every((id, index) => id === record.entryIds[index])
    ? entry
    : { ...entry, data: { ...record, entryIds } };
}
