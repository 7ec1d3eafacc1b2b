// Undoes the newest compaction and keeps what came after it.
import {
  buildContext,
  type CompactionEntry,
  moveReferences,
  originsOf,
  pruneRecordOf,
  type TranscriptEntry,
  withOrigin,
} from "@clew/plugin-sdk/transcript";
import { isCompactionPrune } from "./prune-step.ts";

/**
 * "no-compaction": there is none on the branch · "reset-since": a reset came after the newest one ·
 * "another": the newest one is not the one that was meant.
 */
export type UndoCode = "no-compaction" | "reset-since" | "another";

/** A compaction that an undo would take back. */
export interface UndoTarget {
  /** Of the compaction, or of the prune where nothing was summarised. */
  entryId: string;
  /** When it was made, ISO 8601. */
  timestamp: string;
  /** Messages that its summary stands for; an earlier summary is none. */
  messages: number;
  /** Tool results that it cleared. */
  clearedResults: number;
  /** Tokens of the context that it replaced; null = it does not say. */
  tokensBefore: number | null;
}

type NothingToUndo = { kind: "nothing"; code: UndoCode; reason: string };

export type UndoPlan =
  | NothingToUndo
  | {
      kind: "undo";
      /** Entries of the branch that stay, counted from the root. */
      keep: number;
      /**
       * What is taken back: a compaction, a prune of one, or both; oldest
       * first. They stay in the file.
       */
      undone: readonly TranscriptEntry[];
      /**
       * The new end of the branch: a record of the undo, then what followed, with new ids and
       * every reference moved along.
       */
      entries: readonly TranscriptEntry[];
      /** Old id to new id, of what followed. */
      remapped: ReadonlyMap<string, string>;
    };

export interface UndoInput {
  branch: readonly TranscriptEntry[];
  /** A fresh id, unique in the file. */
  nextId: () => string;
  /** ISO 8601. */
  timestamp: string;
}

/** Type of the custom entry that records an undo; never part of the context. */
export const UNDO_RECORD = "clew.compaction-undone";

/**
 * Pure but for `nextId`. The context is afterwards, byte for byte, what it was before the
 * compaction, followed by what has been said since: kept entries are the same entries, later ones
 * keep their messages, ids of messages and times. Undo again takes the compaction before back.
 */
function planUndoCompaction({ branch, nextId, timestamp }: UndoInput): UndoPlan {
  const newest = findNewest(branch);
  if (newest.kind === "nothing") return newest;
  const { keep, at } = newest;
  const undone = branch.slice(keep, at + 1);
  const following = branch.slice(at + 1);
  const ids = new Map(following.map(({ id }) => [id, nextId()]));
  const record: TranscriptEntry = {
    type: "custom",
    customType: UNDO_RECORD,
    data: { v: 1, entryIds: undone.map(({ id }) => id) },
    id: nextId(),
    parentId: branch[keep - 1]?.id ?? null,
    timestamp,
  };
  let parentId = record.id;
  const origins = originsOf(branch);
  const again = following.map((entry) => {
    const moved = moveReferences(
      withOrigin({ ...entry, id: ids.get(entry.id)!, parentId }, origins.get(entry.id)!),
      (id) => ids.get(id) ?? id,
    );
    parentId = moved.id;
    return moved;
  });
  return { kind: "undo", keep, undone, entries: [record, ...again], remapped: ids };
}

/** Which entries of the branch the newest compaction is: from `keep` to `at`. */
function findNewest(
  branch: readonly TranscriptEntry[],
): NothingToUndo | { kind: "found"; keep: number; at: number } {
  const at = branch.findLastIndex(
    (entry) => entry.type === "reset" || entry.type === "compaction" || isCompactionPrune(entry),
  );
  const target = branch[at];
  if (target === undefined)
    return { kind: "nothing", code: "no-compaction", reason: "there is no compaction to undo" };
  if (target.type === "reset")
    return {
      kind: "nothing",
      code: "reset-since",
      reason: "the session was reset after its last compaction",
    };
  const keep =
    target.type === "compaction" && wasWrittenWithPrune(target) && isCompactionPrune(branch[at - 1])
      ? at - 1
      : at;
  return { kind: "found", keep, at };
}

/** Pure. What an undo would take back now; null = there is nothing. */
export function nextUndo(branch: readonly TranscriptEntry[]): UndoTarget | null {
  const newest = findNewest(branch);
  if (newest.kind === "nothing") return null;
  const { keep, at } = newest;
  const target = branch[at]!;
  const prune = [branch[at], branch[keep]]
    .map(pruneRecordOf)
    .find((record) => record !== undefined);
  const after = new Set(buildContext(branch.slice(0, at + 1)).items.map(({ id }) => id));
  const before = buildContext(branch.slice(0, keep)).items;
  const summaries = new Set(
    branch.slice(0, keep).flatMap(({ id, type }) => (type === "compaction" ? [id] : [])),
  );
  return {
    ...{ entryId: target.id, timestamp: target.timestamp },
    messages: before.filter(({ id, entryId }) => !after.has(id) && !summaries.has(entryId)).length,
    clearedResults: prune?.entryIds.length ?? 0,
    tokensBefore: target.type === "compaction" ? target.tokensBefore : null,
  };
}

/** What an undo needs of a transcript. */
export interface UndoTranscript {
  /** The active branch, oldest first. */
  branch(): readonly TranscriptEntry[];
  /**
   * Makes `entries`, which are complete, follow the first `keep` entries of the branch; `leafId` is
   * the end of the branch the plan was made for. All or nothing, durable when resolved; throws
   * TRANSCRIPT_MOVED when the branch ends elsewhere by now.
   */
  graft(request: {
    keep: number;
    leafId: string;
    entries: readonly TranscriptEntry[];
  }): Promise<void>;
}

/** What was undone, by entry id, and the new ids of what followed; or why nothing was. */
export type UndoResult =
  | {
      ok: true;
      undone: readonly string[];
      target: UndoTarget;
      remapped: ReadonlyMap<string, string>;
      /** What undoing again would take back; null = there is nothing. */
      next: UndoTarget | null;
    }
  | { ok: false; code: UndoCode; reason: string };

/** `/compact undo`. Throws what `graft` throws; nothing is changed then. */
export async function undoCompaction({
  transcript,
  nextId,
  only,
  now = Date.now,
}: {
  transcript: UndoTranscript;
  nextId: () => string;
  /** The entry that is meant: another one is not undone. Absent: the newest, whichever that is. */
  only?: string | undefined;
  now?: () => number;
}): Promise<UndoResult> {
  const branch = transcript.branch();
  const target = nextUndo(branch);
  if (only !== undefined && target !== null && target.entryId !== only) return ANOTHER;
  const plan = planUndoCompaction({ branch, nextId, timestamp: new Date(now()).toISOString() });
  if (plan.kind === "nothing") return { ok: false, code: plan.code, reason: plan.reason };
  await transcript.graft({ keep: plan.keep, leafId: branch.at(-1)!.id, entries: plan.entries });
  return {
    ...{ ok: true, undone: plan.undone.map(({ id }) => id), target: target! },
    ...{ remapped: plan.remapped, next: nextUndo(transcript.branch()) },
  };
}

const ANOTHER: UndoResult = {
  ...{ ok: false, code: "another" },
  reason: "the newest compaction is not the one that was meant",
};

function wasWrittenWithPrune({ details }: CompactionEntry): boolean {
  return (
    typeof details === "object" &&
    details !== null &&
    (details as { withPrune?: unknown }).withPrune === true
  );
}
