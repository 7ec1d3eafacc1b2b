// Says in a sentence where a text is and where the model could read it.

import { formatCount, formatNumberOf } from "../../src/conversation/format.ts";
import { describeLetGo } from "../../src/inspect/let-go.ts";
import type { FoundText } from "../../src/inspect/shapes.ts";

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

export interface FoundRange {
  from: string;
  to: string;
  /** What took it in the call after, or why nobody knows; null = the newest call still shows it. */
  gone: FoundText["lost"][number] | null;
}

/** Pure. Each range of calls in which it could be read, with its end. */
export function planRanges({ shownIn, unseenIn, lost }: FoundText): FoundRange[] {
  const hidden = unseenIn.map(({ from, why, ...range }) => ({
    ...{ id: from, ...range },
    why: `nobody here can tell: ${why}`,
  }));
  const ends = [...lost, ...hidden].sort((a, b) => orderOf(a.id, b.id));
  return shownIn.map(({ from, to }, at) => {
    const next = shownIn[at + 1]?.from;
    const gone = ends.find(
      ({ id }) => orderOf(to, id) < 0 && (next === undefined || orderOf(id, next) < 0),
    );
    return { from, to, gone: gone ?? null };
  });
}

/** Of calls, by turn and number. */
function orderOf(one: string, other: string): number {
  const [[turn = 0, call = 0], [otherTurn = 0, otherCall = 0]] = [one, other].map((id) =>
    id.split(".").map(Number),
  ) as [number[], number[]];
  return turn - otherTurn || call - otherCall;
}
