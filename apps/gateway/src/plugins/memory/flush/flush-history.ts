// Reads from a branch which memory flushes there were lately.
import { UNDO_RECORD } from "@clew/legacy-engine";
import type { CustomEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { type FlushMark, markIn, namedBy } from "./flush-marks.ts";

/** A flush that began. */
export interface BegunFlush {
  /** Its place in the branch; it saw what stands before. */
  at: number;
  /** What its end names. */
  id: string;
  /** The `id` of the flush that it makes up for; null = of none. */
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
    const id = namedBy(entry);
    const flush = { at, id, of: mark.of ?? null, end: ends.get(id) ?? null };
    (flush.of === null ? cycles.at(-1)! : retries).push(flush);
  }
  const [current = [], ...earlier] = cycles;
  return { current, earlier, retries, missed };
}

/** One that was undone had its flush; the next one has its own. */
const isCompaction = (entry: TranscriptEntry, mark: FlushMark | undefined): boolean =>
  entry.type === "compaction" ||
  entry.type === "reset" ||
  (entry.type === "custom" && (entry as CustomEntry).customType === UNDO_RECORD) ||
  mark?.state === "compacted";

/** What is older, and was seen by none, is given up: a memory may be chosen late. */
const MOST_ENTRIES = 2_000;

/**
 * Pure. What no flush has seen yet begins here, whether or not a compaction took it since: every
 * flush begins where the one before it ended.
 */
export function firstUnseen(branch: readonly TranscriptEntry[]): number {
  const stored = new Map<string, string | undefined>();
  const upTo = new Set<string>();
  const oldest = oldestIn(branch);
  for (let at = branch.length - 1; at >= oldest; at--) {
    const entry = branch[at]!;
    const name = namedBy(entry);
    if (upTo.has(name) || entry.type === "reset") return at + 1;
    const { state, of, upTo: seen } = markIn(entry) ?? {};
    if (of !== undefined && (state === "done" || state === "nothing")) stored.set(of, seen);
    if (state !== "begun" || !stored.has(name)) continue;
    const newest = stored.get(name);
    if (newest === undefined) return at + 1;
    upTo.add(newest);
  }
  return oldest;
}

/** Pure. True: none worked yet, as far as it is looked back. */
export const isNeverFlushed = (branch: readonly TranscriptEntry[]): boolean =>
  firstUnseen(branch) === oldestIn(branch);

const oldestIn = ({ length }: readonly TranscriptEntry[]) => Math.max(0, length - MOST_ENTRIES);
