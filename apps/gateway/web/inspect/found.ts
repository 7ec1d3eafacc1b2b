// Says in a sentence where a text is and where the model could read it.

import { formatCount, formatNumberOf } from "../../src/conversation/format.ts";
import { describeLetGo } from "../../src/inspect/let-go.ts";
import type { FoundText } from "../../src/inspect/shapes/found-text.ts";

/** Pure. "Said in 1 entry; shown in 610 of 642 calls; in 1 of 2 summaries." */
export function describeFound({
  matching,
  left,
  shownIn,
  unseenIn,
  summaries,
  calls,
  letGoTurns,
}: FoundText): string {
  const shown = shownIn.reduce((sum, range) => sum + range.calls, 0);
  const saying = summaries.filter(({ says }) => says).length;
  const said =
    matching > 0
      ? `Said in ${formatNumberOf(matching, "entry", "entries")}`
      : left.length === 0
        ? "Nobody said it"
        : "Not said on the branch of the session";
  const gone =
    left.length === 0 ? "" : `; in ${formatNumberOf(left.length, "entry", "entries")} that left it`;
  const named =
    summaries.length === 0
      ? ""
      : `; in ${formatCount(saying)} of ${formatNumberOf(summaries.length, "summary", "summaries")}`;
  const unseen = unseenIn.reduce((sum, range) => sum + range.calls, 0);
  const hidden =
    unseen === 0
      ? ""
      : `; of ${formatCount(unseen)} nobody here can tell, as a program showed what it holds itself`;
  const letGo = describeLetGo(letGoTurns);
  const before = letGo === null ? "" : ` Nobody can tell of calls before: ${letGo}.`;
  return `${said}${gone}; shown in ${formatCount(shown)} of ${formatNumberOf(calls, "call")}${hidden}${named}.${before}`;
}
