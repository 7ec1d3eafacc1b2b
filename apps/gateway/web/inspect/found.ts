// Says in a sentence where a text is and where the model could read it.
import type { FoundText } from "../../src/inspect/shapes.ts";
import { formatCount, formatNumberOf } from "../format.ts";

/** Pure. "Said in 1 entry; shown in 610 of 642 calls; in 1 of 2 summaries." */
export function describeFound({ entries, shownIn, summaries, calls }: FoundText): string {
  const shown = shownIn.reduce((sum, range) => sum + range.calls, 0);
  const saying = summaries.filter(({ says }) => says).length;
  const said =
    entries.length === 0
      ? "Nobody said it"
      : `Said in ${entries.length === 1 ? "1 entry" : `${formatCount(entries.length)} entries`}`;
  const named =
    summaries.length === 0
      ? ""
      : `; in ${formatCount(saying)} of ${formatNumberOf(summaries.length, "summary").replace("summarys", "summaries")}`;
  return `${said}; shown in ${formatCount(shown)} of ${formatNumberOf(calls, "call")}${named}.`;
}
