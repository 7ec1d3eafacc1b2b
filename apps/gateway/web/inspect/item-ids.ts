// Names the items of calls, and finds what one of them was in the call before.
import type { CallDiff, SentItem } from "../../src/inspect/shapes/one-call.ts";

/** "58.3/messages/4". */
export const idOfItem = (call: string, { part, index }: Pick<SentItem, "part" | "index">): string =>
  `${call}/${part}/${index}`;

export const callOfItem = (id: string): string => id.split("/")[0] ?? "";

type Changes = Pick<CallDiff, "from" | "to" | "changed" | "removed">;

/** Pure. What the item was in the call before; null = it did not change between the two. */
export function itemBefore(diff: Changes | null, id: string): string | null {
  const pair = diff?.changed.find(({ after }) => idOfItem(diff.to.id, after) === id);
  return diff == null || pair === undefined ? null : idOfItem(diff.from.id, pair.before);
}

/** Pure. Why it changed between the two, or went; null = it did neither. */
export function whyOfChange(diff: Changes | null, id: string): string | null {
  if (diff === null) return null;
  const changed = diff.changed.find(({ after }) => idOfItem(diff.to.id, after) === id);
  const removed = diff.removed.find(({ item }) => idOfItem(diff.from.id, item) === id);
  return (changed ?? removed)?.why ?? null;
}
