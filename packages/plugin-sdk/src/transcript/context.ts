// The messages that a branch stands for once its compactions and prunes are applied.
import type { CompactionSummaryMessage } from "../contract/message.ts";
import type { ContextItem } from "./context-item.ts";
import type { CompactionEntry, ResetEntry, TranscriptEntry } from "./entries.ts";
import { applyPruneRecords, pruneRecordOf } from "./prune-records.ts";

/** A branch and the messages it stands for. */
export interface TranscriptContext {
  /** The branch this context was built from. */
  branch: readonly TranscriptEntry[];
  /** Oldest first; the same objects as long as the branch only grows. */
  items: readonly ContextItem[];
}

/**
 * The messages a branch stands for, oldest first (spec "compaction" §2.9): the latest compaction's
 * summary, the entries it kept, then the rest, with the tool results cleared that a prune of the
 * branch names. `previous` makes it cheap: when `branch` only grew by messages since then, earlier
 * items are reused as they are.
 */
export function buildContext(
  branch: readonly TranscriptEntry[],
  previous?: TranscriptContext,
): TranscriptContext {
  const grown =
    previous !== undefined && extendsBranch(branch, previous.branch) ? previous : undefined;
  if (grown !== undefined) {
    const fresh = branch.slice(grown.branch.length);
    if (fresh.length === 0) return { branch, items: grown.items };
    if (!fresh.some(changesHistory))
      return { branch, items: grown.items.concat(fresh.flatMap(toItem)) };
  }

  const boundary = branch.findLastIndex(replacesHistory);
  if (boundary < 0) return { branch, items: applyPruneRecords(branch.flatMap(toItem), branch) };
  const entry = branch[boundary] as CompactionEntry | ResetEntry;
  const keptFrom = branch.findIndex(({ id }) => id === entry.firstKeptEntryId);
  const kept = keptFrom < 0 || keptFrom > boundary ? [] : branch.slice(keptFrom, boundary);
  const head =
    entry.type === "compaction" ? [{ entryId: entry.id, message: summaryMessage(entry) }] : [];
  const items = [...head, ...kept.flatMap(toItem), ...branch.slice(boundary + 1).flatMap(toItem)];
  return { branch, items: applyPruneRecords(items, branch) };
}

/**
 * True when `branch` starts with all of `earlier`; one comparison, because an entry's path
 * to the root never changes.
 */
function extendsBranch(
  branch: readonly TranscriptEntry[],
  earlier: readonly TranscriptEntry[],
): boolean {
  return earlier.length === 0 || branch[earlier.length - 1] === earlier.at(-1);
}

const replacesHistory = (entry: TranscriptEntry) =>
  entry.type === "compaction" || entry.type === "reset";
const changesHistory = (entry: TranscriptEntry) =>
  replacesHistory(entry) || pruneRecordOf(entry) !== undefined;

function toItem(entry: TranscriptEntry): ContextItem[] {
  switch (entry.type) {
    case "message":
      return [{ entryId: entry.id, message: entry.message }];
    case "custom_message": {
      const { customType, content, display, details } = entry;
      const extras = {
        ...(display !== undefined && { display }),
        ...(details !== undefined && { details }),
      };
      return [
        {
          entryId: entry.id,
          message: { role: "custom", customType, content, ...extras, ...stamp(entry) },
        },
      ];
    }
    case "branch_summary": {
      const { summary, fromId } = entry;
      return [
        { entryId: entry.id, message: { role: "branchSummary", summary, fromId, ...stamp(entry) } },
      ];
    }
    default:
      return [];
  }
}

/** Nothing when the entry's own time cannot be read. */
function stamp(entry: TranscriptEntry): { timestamp?: number } {
  const timestamp = Date.parse(entry.timestamp);
  return Number.isNaN(timestamp) ? {} : { timestamp };
}

function summaryMessage(entry: CompactionEntry): CompactionSummaryMessage {
  const { summary, tokensBefore } = entry;
  return { role: "compactionSummary", summary, tokensBefore, ...stamp(entry) };
}
