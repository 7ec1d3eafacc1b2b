// Tells of each range of calls that showed a text what ended it.
import type { FoundText } from "./shapes/found-text.ts";

export interface FoundRange {
  from: string;
  to: string;
  /** What took it in the calls after, or why nobody knows; null = the newest call shows it. */
  gone: FoundText["lost"][number] | null;
  /** Nobody knows whether it is gone. */
  isUnseen: boolean;
}

/** Pure. Each range of calls in which it could be read, with its end. */
export function planRanges({ shownIn, unseenIn, lost }: FoundText): FoundRange[] {
  const hidden = unseenIn.map(({ from, why, ...range }) => ({
    ...{ id: from, ...range },
    ...{ why: `nobody here can tell: ${why}`, isUnseen: true },
  }));
  const gaps = lost.map((gap) => ({ ...gap, isUnseen: false }));
  const ends = [...gaps, ...hidden].sort((a, b) => orderOf(a.id, b.id));
  return shownIn.map(({ from, to }, at) => {
    const next = shownIn[at + 1]?.from;
    const end = ends.find(
      ({ id }) => orderOf(to, id) < 0 && (next === undefined || orderOf(id, next) < 0),
    );
    if (end === undefined) return { from, to, gone: null, isUnseen: false };
    const { isUnseen, ...gone } = end;
    return { from, to, gone, isUnseen };
  });
}

/** Of calls, by turn and number. */
function orderOf(one: string, other: string): number {
  const [[turn = 0, call = 0], [otherTurn = 0, otherCall = 0]] = [one, other].map((id) =>
    id.split(".").map(Number),
  ) as [number[], number[]];
  return turn - otherTurn || call - otherCall;
}
