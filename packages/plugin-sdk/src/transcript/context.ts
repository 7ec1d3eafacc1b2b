// The messages that a branch stands for once its compactions and prunes are applied.
import type { AgentMessage } from "../contract/message.ts";
import { createNotes } from "../notes.ts";
import { type Steps, stepsAtOnce } from "../slices.ts";
import type { ContextItem } from "./context-item.ts";
import type { CompactionEntry, ResetEntry, TranscriptEntry } from "./entries.ts";
import { messageId, withMessageId } from "./message-id.ts";
import { claimOrigins } from "./origin.ts";
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
 * branch names. Every message carries its id, also when the file was written without; of two
 * entries that claim the same one the later falls back to its own. `previous` makes it cheap: when
 * `branch` only grew by messages since then, earlier items are reused as they are.
 */
export function buildContext(
  branch: readonly TranscriptEntry[],
  previous?: TranscriptContext,
): TranscriptContext {
  const grown =
    previous !== undefined && extendsBranch(branch, previous.branch) ? previous : undefined;
  if (grown !== undefined) {
    const fresh = branch.slice(grown.branch.length);
    if (!fresh.some(changesHistory)) {
      const taken = takeIds(grown);
      const added = identified(fresh, taken).flatMap(toItem);
      const items = added.length === 0 ? grown.items : grown.items.concat(added);
      return remembering({ branch, items }, taken);
    }
  }

  return stepsAtOnce(contextSteps(branch));
}

/** Entries looked at between two steps. */
const STEP = 512;

/** `buildContext` of a whole branch in steps, for a branch that takes long. */
export function* contextSteps(branch: readonly TranscriptEntry[]): Steps<TranscriptContext> {
  const taken: TakenIds = new Set();
  const origins: string[] = [];
  for (let start = 0; start < branch.length; start += STEP) {
    for (const origin of claimOrigins(branch.slice(start, start + STEP), taken))
      origins.push(origin);
    yield;
  }
  const shown = shownPlaces(branch);
  const items: ContextItem[] = [];
  for (let start = 0; start < shown.length; start += STEP) {
    yield;
    for (const index of shown.slice(start, start + STEP))
      items.push(...toItem({ entry: branch[index]!, id: origins[index]! }));
  }
  return remembering({ branch, items: applyPruneRecords(items, branch) }, taken);
}

/** An entry that may be part of a context, and the id it has there. */
interface IdentifiedEntry {
  entry: TranscriptEntry;
  id: string;
}

/** Where the entries stand that the newest compaction or reset of a branch leaves, in order. */
function shownPlaces(branch: readonly TranscriptEntry[]): number[] {
  const boundary = branch.findLastIndex(replacesHistory);
  const newest = branch[boundary] as CompactionEntry | ResetEntry | undefined;
  if (newest === undefined) return places(0, branch.length);
  const keptFrom = branch.findIndex(({ id }) => id === newest.firstKeptEntryId);
  const kept = keptFrom < 0 ? [] : places(keptFrom, boundary);
  return [
    boundary,
    ...kept.filter((index) => !replacesHistory(branch[index]!)),
    ...places(boundary + 1, branch.length),
  ];
}

/** From `start` up to, not including, `end`. */
const places = (start: number, end: number): number[] =>
  Array.from({ length: Math.max(0, end - start) }, (_, index) => start + index);

type TakenIds = Set<string>;

// Handed on to the context that grows from it, because the set grows along.
const takenIds = new WeakMap<TranscriptContext, TakenIds>();

function remembering(context: TranscriptContext, taken: TakenIds): TranscriptContext {
  takenIds.set(context, taken);
  return context;
}

function takeIds(context: TranscriptContext): TakenIds {
  const taken = takenIds.get(context);
  takenIds.delete(context);
  if (taken !== undefined) return taken;
  const again: TakenIds = new Set();
  identified(context.branch, again);
  return again;
}

/** The entries with their ids, which become taken. */
function identified(entries: readonly TranscriptEntry[], taken: TakenIds): IdentifiedEntry[] {
  const origins = claimOrigins(entries, taken);
  return entries.map((entry, index) => ({ entry, id: origins[index]! }));
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

function toItem({ entry, id }: IdentifiedEntry): ContextItem[] {
  const item = (message: AgentMessage): ContextItem[] => [{ entryId: entry.id, id, message }];
  const __openclaw = { id };
  switch (entry.type) {
    case "message":
      return item(identifiedMessage(entry.message, id));
    case "custom_message": {
      const { customType, content, display, details } = entry;
      const extras = {
        ...(display !== undefined && { display }),
        ...(details !== undefined && { details }),
      };
      return item({ role: "custom", customType, content, ...extras, ...stamp(entry), __openclaw });
    }
    case "branch_summary": {
      const { summary, fromId } = entry;
      return item({ role: "branchSummary", summary, fromId, ...stamp(entry), __openclaw });
    }
    case "compaction": {
      const { summary, tokensBefore } = entry;
      return item({
        role: "compactionSummary",
        summary,
        tokensBefore,
        ...stamp(entry),
        __openclaw,
      });
    }
    default:
      return [];
  }
}

// Messages are never changed once made, so what was worked out for one holds for good.
const known = createNotes<AgentMessage, AgentMessage>();

/** The message with this id; the same object each time. */
function identifiedMessage(message: AgentMessage, id: string): AgentMessage {
  const before = known.get(message);
  if (before !== undefined && messageId(before) === id) return before;
  const made = withMessageId(message, id);
  if (made !== message) known.set(message, made);
  return made;
}

/** Nothing when the entry's own time cannot be read. */
function stamp(entry: TranscriptEntry): { timestamp?: number } {
  const timestamp = Date.parse(entry.timestamp);
  return Number.isNaN(timestamp) ? {} : { timestamp };
}
