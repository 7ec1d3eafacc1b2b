// Takes the newest compaction of an open session back.
import { type UndoResult, undoCompaction } from "@clew/legacy-engine";
import type { CompactableSession } from "../sessions/open.ts";

/** What there was to take back; throws TRANSCRIPT_MOVED and TRANSCRIPT_UNREADABLE, and nothing is changed then. */
export function undoLastCompaction({ compaction }: CompactableSession): Promise<UndoResult> {
  return undoCompaction({ transcript: compaction, nextId: compaction.nextId });
}
