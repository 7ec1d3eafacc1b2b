// Names the items of calls, and finds what one of them was in the call before.
import type { CallDiff, SentItem } from "../../src/inspect/shapes.ts";

/** "58.3/messages/4". */
export const idOfItem = (call: string, { part, index }: Pick<SentItem, "part" | "index">): string =>
  `${call}/${part}/${index}`;

export const callOfItem = (id: string): string => id.split("/")[0] ?? "";

/** Pure. Null: it did not change between the two calls. */
export function itemBefore(
  diff: Pick<CallDiff, "from" | "to" | "changed"> | null,
  id: string,
): string | null {
  const pair = diff?.changed.find(({ after }) => idOfItem(diff.to.id, after) === id);
  return diff == null || pair === undefined ? null : idOfItem(diff.from.id, pair.before);
}
