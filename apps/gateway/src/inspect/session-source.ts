// Where the inspector finds the entries of one session.
import type { TurnSoFar } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { PaidLine } from "../costs/paid-since.ts";

/** Where a session's reports and entries are. */
export interface SessionSource {
  /** The agent's folder of reports. */
  folder: string;
  sessionId: string;
  /** The transcript, beside which it may be kept what is made of it. Absent: nothing is kept. */
  file?: string;
  /** The active branch, oldest first. */
  branch: readonly TranscriptEntry[];
  /** Every entry of the transcript, those of branches that were left included. */
  allEntries(): Promise<readonly TranscriptEntry[]>;
  /** What was written down of its model calls since then (ISO 8601). Absent: nobody knows. */
  paidSince?: ((at: string) => Promise<readonly PaidLine[]>) | undefined;
  /** The turn whose report is still to be written. Absent: none is under way. */
  underWay?: TurnUnderWay | undefined;
}

/** What is known of a turn before its report is stored. */
export interface TurnUnderWay extends TurnSoFar {
  /** Ordinal that its report will have. */
  turn: number;
}

/** Entries of a transcript by id. */
export interface EntryFinder {
  find(id: string): TranscriptEntry | undefined;
  /** Takes in what the branch has grown by. False: what was known of it was read anew. */
  follow(source: SessionSource): boolean;
  /** Reads the whole transcript where one of `ids` is not known yet. */
  ensure(ids: readonly (string | null)[]): Promise<void>;
}

export function createEntryFinder(first: SessionSource): EntryFinder {
  const entries = new Map<string, TranscriptEntry>();
  let source: SessionSource | undefined;
  let isWhole = false;
  const follow = (next: SessionSource) => {
    if (source?.branch === next.branch) return true;
    source = next;
    isWhole = false;
    for (let at = next.branch.length - 1; at >= 0; at--) {
      const entry = next.branch[at]!;
      const known = entries.get(entry.id);
      // What an entry follows never changes, so all before it is known, too.
      if (known !== undefined) return known === entry;
      entries.set(entry.id, entry);
    }
    return true;
  };
  follow(first);
  return {
    follow,
    find: (id) => entries.get(id),
    async ensure(ids) {
      if (isWhole || ids.every((id) => id === null || entries.has(id))) return;
      for (const entry of await (source ?? first).allEntries())
        if (!entries.has(entry.id)) entries.set(entry.id, entry);
      isWhole = true;
    },
  };
}
