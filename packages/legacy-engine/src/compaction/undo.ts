// Undoes the newest compaction and keeps what came after it.
import {
  type CompactionEntry,
  moveReferences,
  originsOf,
  type TranscriptEntry,
  withOrigin,
} from "@clew/plugin-sdk/transcript";
import { isCompactionPrune } from "./prune-step.ts";

/**
 * "no-compaction": there is none on the branch · "reset-since": a reset came after the newest one.
 */
export type UndoCode = "no-compaction" | "reset-since";

export type UndoPlan =
  | { kind: "nothing"; code: UndoCode; reason: string }
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
  | { ok: true; undone: readonly string[]; remapped: ReadonlyMap<string, string> }
  | { ok: false; code: UndoCode; reason: string };

/** `/compact undo`. Throws what `graft` throws; nothing is changed then. */
export async function undoCompaction({
  transcript,
  nextId,
  now = Date.now,
}: {
  transcript: UndoTranscript;
  nextId: () => string;
  now?: () => number;
}): Promise<UndoResult> {
  const branch = transcript.branch();
  const plan = planUndoCompaction({ branch, nextId, timestamp: new Date(now()).toISOString() });
  if (plan.kind === "nothing") return { ok: false, code: plan.code, reason: plan.reason };
  await transcript.graft({ keep: plan.keep, leafId: branch.at(-1)!.id, entries: plan.entries });
  return { ok: true, undone: plan.undone.map(({ id }) => id), remapped: plan.remapped };
}

function wasWrittenWithPrune({ details }: CompactionEntry): boolean {
  return (
    typeof details === "object" &&
    details !== null &&
    (details as { withPrune?: unknown }).withPrune === true
  );
}
