// Reads from a branch which memory flushes there were lately.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { type FlushMark, markIn } from "./flush-marks.ts";

/** A flush that began. */
export interface BegunFlush {
  /** Its place in the branch; it saw what stands before. */
  at: number;
  id: string;
  /** Id of the flush that it makes up for; null = of none. */
  of: string | null;
  /** How it ended; null = its process died, or it runs. */
  end: FlushMark["state"] | null;
}

export interface FlushHistory {
  /** Since the last compaction, the newest first; those that make up for another one are not. */
  current: BegunFlush[];
  /** The same before each of the compactions before, the newest compaction first. */
  earlier: BegunFlush[][];
  /** What was begun to make up for others, the newest first. */
  retries: BegunFlush[];
  /** Places of compactions that failed, since the last one that did not. */
  missed: number[];
}

/** True of one whose content need not be seen again. */
export const isStored = ({ end }: BegunFlush): boolean => end === "done" || end === "nothing";

/** True of one that is over for good. */
export const isSettled = (flush: BegunFlush): boolean => isStored(flush) || flush.end === "failed";

/** How far it is looked back for one. */
const MOST_COMPACTIONS = 4;

/** Pure. */
export function flushHistory(branch: readonly TranscriptEntry[]): FlushHistory {
  const ends = new Map<string, FlushMark["state"]>();
  const cycles: BegunFlush[][] = [[]];
  const retries: BegunFlush[] = [];
  const missed: number[] = [];
  for (let at = branch.length - 1; at >= 0; at--) {
    const entry = branch[at]!;
    const mark = markIn(entry);
    if (isCompaction(entry, mark)) cycles.push([]);
    if (cycles.length > MOST_COMPACTIONS + 1) break;
    if (mark === undefined) continue;
    if (mark.state === "not-compacted" && cycles.length === 1) missed.push(at);
    if (mark.state !== "begun") {
      if (mark.of !== undefined) ends.set(mark.of, mark.state);
      continue;
    }
    const flush = { at, id: entry.id, of: mark.of ?? null, end: ends.get(entry.id) ?? null };
    (flush.of === null ? cycles.at(-1)! : retries).push(flush);
  }
  const [current = [], ...earlier] = cycles;
  return { current, earlier, retries, missed };
}

const isCompaction = (entry: TranscriptEntry, mark: FlushMark | undefined): boolean =>
  entry.type === "compaction" || entry.type === "reset" || mark?.state === "compacted";

/** Pure. What no flush has seen yet begins here. */
export function firstUnseen(branch: readonly TranscriptEntry[]): number {
  const stored = new Set<string>();
  for (let at = branch.length - 1; at >= 0; at--) {
    const { state, of } = markIn(branch[at]!) ?? {};
    if (of !== undefined && (state === "done" || state === "nothing")) stored.add(of);
    if (state === "begun" && of === undefined && stored.has(branch[at]!.id)) return at + 1;
  }
  return 0;
}
