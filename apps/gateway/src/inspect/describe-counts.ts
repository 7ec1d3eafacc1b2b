// Says how many entries have which fate.
import { counted, number } from "../text/number.ts";
import type { FateCounts } from "./shapes/entries.ts";

/** All fates, which together are all entries. */
export function describeCounts({
  all,
  shown,
  summary,
  cleared,
  leftOut,
  unseen,
}: FateCounts): string {
  const elsewhere =
    unseen === 0
      ? ""
      : `; what a program shows of ${number(unseen)} in its own session, Clew cannot see`;
  return `${counted(all, "entry", "entries")}, ${number(shown)} are shown, ${number(summary)} stand in summaries, ${number(cleared)} are cleared, and ${number(leftOut)} are left out${elsewhere}.`;
}
