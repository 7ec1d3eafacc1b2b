// Undoes the newest compaction of an open session.
import type { SessionState } from "@clew/engine-core";
import { type UndoResult, undoCompaction } from "@clew/legacy-engine";
import type { CompactableSession } from "../sessions/open.ts";

export interface UndoRequest {
  session: CompactableSession;
  state: SessionState;
  /** Registered engines: their places in the transcript move along. */
  engineIds: readonly string[];
}

/**
 * What there was to take back; throws TRANSCRIPT_MOVED and STORAGE_FAILED, and
 * nothing is changed then.
 */
export async function undoLastCompaction({
  session,
  state,
  engineIds,
}: UndoRequest): Promise<UndoResult> {
  const { compaction, outbox } = session;
  const undone = await undoCompaction({ transcript: compaction, nextId: compaction.nextId });
  if (!undone.ok) return undone;
  const { remapped } = undone;
  // What the provider measured was of another history.
  state.measurement = undefined;
  state.undelivered = new Set([...state.undelivered].map((id) => remapped.get(id) ?? id));
  for (const engineId of engineIds) {
    const cursor = outbox?.cursor(engineId);
    const entryId = cursor?.entryId == null ? undefined : remapped.get(cursor.entryId);
    if (cursor !== undefined && entryId !== undefined) await outbox?.save({ ...cursor, entryId });
  }
  return undone;
}
