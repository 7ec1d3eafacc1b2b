// Holds the newest part of a branch in memory, and fetches what is older when somebody asks.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { countOf, firstOf, type Range, withoutFirst } from "./branch.ts";

/** Which entries of a branch: those that follow one (null = all), or the newest ones. */
export type BranchPart = { after: string | null } | { tail: number };

export interface HeldBranchOptions {
  /** All of it, oldest first. */
  ranges: readonly Range[];
  /** What is known of it already: its newest entries. */
  newest: readonly TranscriptEntry[];
  /** Reads entries by their numbers, in order. */
  fetch(ranges: readonly Range[]): Promise<TranscriptEntry[]>;
}

/** The same entries are the same objects at every read. */
export function holdBranch({ ranges, newest, fetch }: HeldBranchOptions) {
  /** The part of the branch that was there at the start and is not held. */
  let unread = firstOf(ranges, countOf(ranges) - newest.length);
  let held: readonly TranscriptEntry[] = newest;
  let fetching: Promise<void> | undefined;

  async function hold(count: number): Promise<void> {
    while (countOf(unread) > 0 && held.length < count) {
      fetching ??= fetchOlder(count).finally(() => {
        fetching = undefined;
      });
      await fetching;
    }
  }
  async function fetchOlder(count: number): Promise<void> {
    const left = countOf(unread);
    // Who needs more than a few needs all: two round trips, whatever the length.
    const kept = count === Infinity ? 0 : Math.max(0, left - (count - held.length));
    const wanted = unread;
    const older = await fetch(withoutFirst(wanted, kept));
    // A rewrite meanwhile holds everything first, so nothing else has changed it.
    unread = firstOf(wanted, kept);
    held = [...older, ...held];
  }

  return {
    count: () => countOf(unread) + held.length,
    async read(part: BranchPart): Promise<readonly TranscriptEntry[] | null> {
      if ("tail" in part) {
        await hold(part.tail);
        return part.tail > 0 ? held.slice(-part.tail) : [];
      }
      const { after } = part;
      const known = after === null ? -1 : held.findLastIndex(({ id }) => id === after);
      if (known >= 0) return held.slice(known + 1);
      await hold(Infinity);
      if (after === null) return held.slice();
      const index = held.findLastIndex(({ id }) => id === after);
      return index < 0 ? null : held.slice(index + 1);
    },
    /** What was stored behind the first `keep` entries; absent: behind all. */
    take(entries: readonly TranscriptEntry[], keep?: number): void {
      held = [...(keep === undefined ? held : held.slice(0, keep)), ...entries];
    },
  };
}

export type HeldBranch = ReturnType<typeof holdBranch>;
