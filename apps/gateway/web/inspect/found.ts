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
      : `; in ${formatCount(saying)} of ${formatNumberOf(summaries.length, "summary", "summaries")}`;
  return `${said}; shown in ${formatCount(shown)} of ${formatNumberOf(calls, "call")}${named}.`;
}

export interface FoundRange {
  from: string;
  to: string;
  /** What took it in the call after; null = the newest call still shows it. */
  gone: FoundText["lost"][number] | null;
}

/** Pure. Each range of calls in which it could be read, with its end. */
export const planRanges = ({ shownIn, lost }: FoundText): FoundRange[] =>
  shownIn.map(({ from, to }, at) => ({ from, to, gone: lost[at] ?? null }));
