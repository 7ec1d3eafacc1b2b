// Decides what the list of sessions says when sessions were copied back into files.
import { isDeepStrictEqual } from "node:util";
import { labelIn, type SessionIndex } from "../../sessions/index-file.ts";

export interface IndexRequest {
  /** As it is, or was when it was copied. */
  index: SessionIndex;
  /** The same with the transcripts that it does not name. */
  completed: SessionIndex;
  /** Sessions whose files are there, as the database names them. */
  sessions: readonly { key: string; sessionId: string; label: string | null }[];
  /** Ids of those that were deleted in the database. */
  deleted: ReadonlySet<string>;
}

export interface IndexPlan {
  index: SessionIndex;
  isChanged: boolean;
  /** Keys that stand for another transcript, which stays. */
  taken: string[];
}

/** Pure. What other programs say of a session in the list stays with it. */
export function planIndex({ index, completed, sessions, deleted }: IndexRequest): IndexPlan {
  const entries = new Map(
    Object.entries(index).filter(([, { sessionId }]) => !deleted.has(sessionId)),
  );
  const changed = sessions.filter(({ key, sessionId, label }) => {
    const known = completed[key];
    return known?.sessionId !== sessionId || (labelIn(known) ?? null) !== label;
  });
  const before = new Map<string, SessionIndex[string]>();
  const moving = new Set(changed.map(({ sessionId }) => sessionId));
  for (const [key, entry] of [...entries]) {
    if (!moving.has(entry.sessionId)) continue;
    before.set(entry.sessionId, entry);
    entries.delete(key);
  }
  const taken: string[] = [];
  for (const { key, sessionId, label } of changed) {
    if (entries.has(key)) {
      taken.push(key);
      continue;
    }
    const { label: _old, ...others } = (before.get(sessionId) ?? {}) as { label?: unknown };
    entries.set(key, { ...others, sessionId, ...(label !== null && { label }) });
  }
  const after = Object.fromEntries(entries);
  return { index: after, isChanged: !isDeepStrictEqual(after, index), taken };
}

/**
 * Pure. Whether a session's name is that of another one in files, which stays. One of `copied`,
 * which came from the database or was copied into it, gives its name up.
 */
export const planTakenNames =
  (index: SessionIndex, copied: ReadonlySet<string>) =>
  ({ key, sessionId }: { key: string; sessionId: string }): boolean => {
    const there = Object.hasOwn(index, key) ? index[key]!.sessionId : sessionId;
    return there !== sessionId && !copied.has(there);
  };
