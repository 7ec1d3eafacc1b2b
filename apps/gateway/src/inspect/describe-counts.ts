// Says how many entries have which fate.
import { counted, number } from "../text/number.ts";
import type { FateCounts } from "./shapes.ts";

/** All fates, which together are all entries. */
export function describeCounts({ all, shown, summary, cleared, leftOut }: FateCounts): string {
  return `${counted(all, "entry", "entries")}, ${number(shown)} are shown, ${number(summary)} stand in summaries, ${number(cleared)} are cleared, and ${number(leftOut)} are left out.`;
}
