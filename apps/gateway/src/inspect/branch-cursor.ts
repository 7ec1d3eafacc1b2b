// Walks from the branch of one model call to that of the next.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";

/** A branch that grows and is left in place; costs what differs from the one before. */
export interface BranchCursor {
  /** From the root to where it stands. */
  readonly path: readonly TranscriptEntry[];
  /** Place of an entry on the path; undefined = it is not on it. */
  placeOf(id: string): number | undefined;
  /**
   * Moves to `leafId` (null: before the first entry) and says how many leading entries stayed;
   * undefined = there is no such entry, and nothing is moved.
   */
  moveTo(leafId: string | null): number | undefined;
}

/** `find`: any entry of the transcript, by id. */
export function createBranchCursor(
  find: (id: string) => TranscriptEntry | undefined,
): BranchCursor {
  const path: TranscriptEntry[] = [];
  const places = new Map<string, number>();
  const cutTo = (length: number) => {
    while (path.length > length) places.delete(path.pop()!.id);
  };
  return {
    path,
    placeOf: (id) => places.get(id),
    moveTo(leafId) {
      const fresh: TranscriptEntry[] = [];
      const seen = new Set<string>();
      let id = leafId;
      // An unknown parent begins the branch, as it does wherever branches are read.
      while (id !== null && !places.has(id) && !seen.has(id)) {
        seen.add(id);
        const entry = find(id);
        if (entry === undefined) break;
        fresh.push(entry);
        id = entry.parentId;
      }
      if (leafId !== null && fresh.length === 0 && !places.has(leafId)) return undefined;
      const kept = id === null ? 0 : (places.get(id) ?? -1) + 1;
      cutTo(kept);
      for (const entry of fresh.reverse()) {
        places.set(entry.id, path.length);
        path.push(entry);
      }
      return kept;
    },
  };
}
