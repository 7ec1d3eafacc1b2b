// Undoes the newest compaction of an open session, and says which it is.
import type { SessionState } from "@clew/engine-core";
import { nextUndo, type UndoResult, type UndoTarget, undoCompaction } from "@clew/legacy-engine";
import type { CompactableSession } from "../sessions/open.ts";

export interface UndoRequest {
  session: CompactableSession;
  state: SessionState;
  /** The entry of the compaction that is meant. Absent: the newest one, whichever that is. */
  only?: string | undefined;
}

/** What would be undone now; null = nothing. */
export const compactionToUndo = ({ compaction }: CompactableSession): UndoTarget | null =>
  nextUndo(compaction.branch());

/**
 * What there was to take back; throws TRANSCRIPT_MOVED and STORAGE_FAILED, and
 * nothing is changed then.
 */
export async function undoLastCompaction(request: UndoRequest): Promise<UndoResult> {
  const { session, state, only } = request;
  const { compaction } = session;
  const undone = await undoCompaction({ transcript: compaction, nextId: compaction.nextId, only });
  if (!undone.ok) return undone;
  // What the provider measured was of another history.
  state.measurement = undefined;
  return undone;
}
