// Walks from the branch of one model call to that of the next.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { isMember } from "./boundaries.ts";

/** A branch as it stands, and where on it entries are. */
export interface Branch {
  /** From the root on. */
  readonly path: readonly TranscriptEntry[];
  /** Place of an entry on the path; undefined = it is not on it. */
  placeOf(id: string): number | undefined;
  /** Of an entry on the path that says something, counted from 1, as a person is told it. */
  numberOf(id: string): number | undefined;
}

/** A branch that grows and is left in place; costs what differs from the one before. */
export interface BranchCursor extends Branch {
  /**
   * Moves to `leafId` (null: before the first entry) and says how many leading entries stayed;
   * undefined = there is no such entry, and nothing is moved.
   */
  moveTo(leafId: string | null): number | undefined;
  /** The branch up to `leafId`, which stays as it is; undefined = there is no such entry. */
  branchTo(leafId: string | null): Branch | undefined;
}

/** What an entry follows never changes, so its place and number are the same on every branch. */
interface Standing {
  place: number;
  /** How many entries up to it say something, itself included. */
  number: number;
}

/** `find`: any entry of the transcript, by id. */
export function createBranchCursor(
  find: (id: string) => TranscriptEntry | undefined,
): BranchCursor {
  const path: TranscriptEntry[] = [];
  const standings = new Map<string, Standing>();
  const branchOf = (on: readonly TranscriptEntry[]): Branch => {
    const standingOf = (id: string) => {
      const standing = standings.get(id);
      return standing !== undefined && on[standing.place]?.id === id ? standing : undefined;
    };
    return {
      path: on,
      placeOf: (id) => standingOf(id)?.place,
      numberOf(id) {
        const standing = standingOf(id);
        return standing !== undefined && isMember(on[standing.place]!)
          ? standing.number
          : undefined;
      },
    };
  };
  const here = branchOf(path);
  /** What comes between the path and `leafId`, and how much of the path comes before that. */
  const wayTo = (leafId: string | null) => {
    const fresh: TranscriptEntry[] = [];
    const seen = new Set<string>();
    let id = leafId;
    // An unknown parent begins the branch, as it does wherever branches are read.
    while (id !== null && here.placeOf(id) === undefined && !seen.has(id)) {
      seen.add(id);
      const entry = find(id);
      if (entry === undefined) break;
      fresh.push(entry);
      id = entry.parentId;
    }
    if (leafId !== null && fresh.length === 0 && here.placeOf(leafId) === undefined)
      return undefined;
    fresh.reverse();
    const kept = id === null ? 0 : (here.placeOf(id) ?? -1) + 1;
    let number = kept === 0 ? 0 : standings.get(path[kept - 1]!.id)!.number;
    for (const [offset, entry] of fresh.entries()) {
      if (isMember(entry)) number++;
      standings.set(entry.id, { place: kept + offset, number });
    }
    return { fresh, kept };
  };
  return {
    ...here,
    moveTo(leafId) {
      const way = wayTo(leafId);
      if (way === undefined) return undefined;
      path.length = way.kept;
      for (const entry of way.fresh) path.push(entry);
      return way.kept;
    },
    branchTo(leafId) {
      const way = wayTo(leafId);
      return way && branchOf(path.slice(0, way.kept).concat(way.fresh));
    },
  };
}
