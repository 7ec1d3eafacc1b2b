// Counts fates from call to call, looking only at entries whose fate may have changed.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import {
  type Boundary,
  hiderOf,
  isBoundary,
  isMember,
  planStretches,
  type Stretch,
} from "./boundaries.ts";
import { addFate, type CallFacts, type EntryFate, fateOf, noFates } from "./fates.ts";
import type { FateCounts } from "./shapes/entries.ts";

/** What differs from the call before. */
export interface FateStep {
  /** The branch of the call, and how many of its leading entries the call before had, too. */
  path: readonly TranscriptEntry[];
  kept: number;
  /** Entries that are sent otherwise than before. */
  touched: ReadonlySet<string>;
  placeOf: (id: string) => number | undefined;
  facts: CallFacts;
  /** True: more than that may have changed, as what the engine's summaries cover. */
  isAll: boolean;
}

export interface FateCounter {
  /** The same as `countFates(planFates(path, facts))`. */
  advance(step: FateStep): FateCounts;
  /** What hides the entry at a place of the path now. */
  hiddenAt(place: number): Boundary | undefined;
  /** How many entries a boundary hides now. */
  hiddenBy(id: string): number;
}

/** An entry that was sent, as it is counted. */
interface Counted {
  fate: EntryFate;
  /** Whether it is also in a summary that stands in the call. */
  isSummed: boolean;
}

/**
 * Entries that were sent are looked at one by one. Of the others it is enough how many there are,
 * and how many of them are in a summary that stands in the call.
 */
export function createFateCounter(): FateCounter {
  const ofSent = noFates();
  const counted = new Map<string, Counted>();
  /** How many of these are in a summary, too. */
  let sentAndSummed = 0;
  /** How many of all entries are in a summary that stands in the call. */
  let summed = 0;
  /** How many entries of the path say something up to each place, that one included. */
  const members: number[] = [];
  let stretches: Stretch[] = [];
  const boundaries: number[] = [];

  const membersIn = ({ from, end }: Pick<Stretch, "from" | "end">) =>
    (members[end - 1] ?? 0) - (members[from - 1] ?? 0);
  const isStanding = ({ by }: { by: Boundary }, { sent }: CallFacts) =>
    by.kind === "summary" && sent.has(by.id);

  const forget = (id: string) => {
    const known = counted.get(id);
    if (known === undefined) return;
    addFate(ofSent, known.fate, -1);
    if (known.isSummed) sentAndSummed--;
    counted.delete(id);
  };
  const settle = (id: string, { path, placeOf, facts }: FateStep) => {
    forget(id);
    const at = placeOf(id);
    if (at === undefined || !isMember(path[at]!) || !facts.sent.has(id)) return;
    const by = hiderOf(stretches, at);
    const isSummed = facts.covered.has(id) || (by !== undefined && isStanding({ by }, facts));
    const fate = fateOf(id, by, facts);
    counted.set(id, { fate, isSummed });
    addFate(ofSent, fate);
    if (isSummed) sentAndSummed++;
  };
  /** True: another entry may be hidden now, or one that was sent is not there any more. */
  const followPath = ({ path, kept, placeOf }: FateStep): boolean => {
    const isTurned = kept < members.length;
    members.length = kept;
    const known = boundaries.length;
    while ((boundaries.at(-1) ?? -1) >= kept) boundaries.pop();
    const isLess = boundaries.length < known;
    for (let at = kept; at < path.length; at++) {
      members.push((members[at - 1] ?? 0) + (isMember(path[at]!) ? 1 : 0));
      if (isBoundary(path[at]!)) boundaries.push(at);
    }
    const isMoved = isLess || (boundaries.at(-1) ?? -1) >= kept;
    if (isMoved) stretches = planStretches(path, boundaries, placeOf);
    return isMoved || isTurned;
  };
  /** How many entries the summaries of compactions hold, and besides those the engine's. */
  const countSummed = ({ path, placeOf, facts }: FateStep): number => {
    const standing = stretches.filter((stretch) => isStanding(stretch, facts));
    let count = standing.reduce((sum, stretch) => sum + membersIn(stretch), 0);
    for (const id of facts.covered.keys()) {
      const at = placeOf(id);
      if (at !== undefined && isMember(path[at]!) && hiderOf(standing, at) === undefined) count++;
    }
    return count;
  };
  /** How many entries the program's own session does not know, of those not shown in any form. */
  const countUnknown = ({ path, placeOf, facts }: FateStep): number => {
    const from = facts.unseen?.from ?? 0;
    const standing = stretches.filter((stretch) => isStanding(stretch, facts));
    const resets = stretches.filter(({ by }) => by.kind === "reset");
    const inAll = (some: readonly Pick<Stretch, "from" | "end">[]) =>
      some.reduce((sum, each) => sum + Math.max(0, membersIn(each)), 0);
    const isShown = (id: string) => {
      const at = placeOf(id);
      if (at === undefined || !isMember(path[at]!)) return false;
      const isGone = at < from || hiderOf(resets, at) !== undefined;
      return isGone && hiderOf(standing, at) === undefined;
    };
    const shown = new Set([...facts.sent.keys(), ...facts.covered.keys()]);
    return (
      membersIn({ from: 0, end: from }) +
      inAll(resets.map((each) => ({ from: Math.max(from, each.from), end: each.end }))) -
      inAll(standing.map((each) => ({ from: each.from, end: Math.min(from, each.end) }))) -
      [...shown].filter(isShown).length
    );
  };
  return {
    hiddenAt: (place) => hiderOf(stretches, place),
    hiddenBy: (id) =>
      stretches.reduce((sum, each) => sum + (each.by.id === id ? membersIn(each) : 0), 0),
    advance(step) {
      const { path, touched, placeOf, facts, isAll } = step;
      const isMoved = followPath(step);
      const isSummary = [...touched].some((id) => path[placeOf(id) ?? -1]?.type === "compaction");
      if (isAll || isMoved || isSummary) {
        summed = countSummed(step);
        for (const id of [...counted.keys()]) if (!facts.sent.has(id)) forget(id);
        for (const id of facts.sent.keys()) settle(id, step);
      } else for (const id of touched) settle(id, step);
      const all = members.at(-1) ?? 0;
      const summary = summed - sentAndSummed;
      const absent = all - ofSent.all - summary;
      const leftOut = facts.unseen === null ? absent : countUnknown(step);
      const counts = { ...ofSent, all, summary: ofSent.summary + summary, leftOut };
      return { ...counts, unseen: absent - leftOut };
    },
  };
}
