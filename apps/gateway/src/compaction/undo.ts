// Undoes the newest compaction of an open session.
import type { SessionState } from "@clew/engine-core";
import { type UndoResult, undoCompaction } from "@clew/legacy-engine";
import type { CompactableSession } from "../sessions/open.ts";

export interface UndoRequest {
  session: CompactableSession;
  state: SessionState;
}

/**
 * What there was to take back; throws TRANSCRIPT_MOVED and STORAGE_FAILED, and
 * nothing is changed then.
 */
export async function undoLastCompaction({ session, state }: UndoRequest): Promise<UndoResult> {
  const { compaction } = session;
  const undone = await undoCompaction({ transcript: compaction, nextId: compaction.nextId });
  if (!undone.ok) return undone;
  // What the provider measured was of another history.
  state.measurement = undefined;
  return undone;
}
