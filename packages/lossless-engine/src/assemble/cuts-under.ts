// Decides which of several cuts at one place counts under a budget.
import type { StoredCut } from "../store/cuts.ts";
import { isForMore } from "./plan.ts";

/**
 * Pure. The cuts by the names of their first messages; `cuts`: newest first. `highMark`: of the
 * budget, in tokens; absent = the newest at each place counts.
 */
export function cutsUnder(
  cuts: readonly StoredCut[],
  highMark?: number,
): ReadonlyMap<string, StoredCut> {
  const all = new Map<string, StoredCut>();
  for (const cut of cuts.toReversed()) {
    const before = all.get(cut.first);
    const isOlder = before !== undefined && highMark !== undefined && stands(before, cut, highMark);
    all.set(cut.first, isOlder ? { ...before, newestHere: cut.id } : cut);
  }
  return all;
}

/**
 * A budget that was asked for meanwhile changes no view under a far smaller one, and undoes no
 * compaction. Of those that are alike, as where a host has a little more room or less each time,
 * the newer one counts.
 */
function stands(older: StoredCut, newer: StoredCut, highMark: number): boolean {
  if (older.ceiling < highMark) return false;
  return newer.ceiling < highMark || isForMore(newer.ceiling, older.ceiling);
}
