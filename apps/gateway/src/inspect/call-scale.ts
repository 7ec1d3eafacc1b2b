// Puts what the host estimated on the scale on which a model call is counted.
import type { ReportItem } from "@clew/engine-core";
import { shareOut } from "../reports/share-out.ts";
import type { EntryFate } from "./fates.ts";
import type { CallRow } from "./shapes/calls.ts";
import type { EntryMark } from "./shapes/entries.ts";
import { SOURCES, sourceOf } from "./sources.ts";

type Measured = Pick<CallRow, "tokens" | "estimatedTokens">;

/** Pure. An estimate as the call counts; as it is where nobody knows what was sent. */
export const onScaleOf =
  ({ tokens: { total, program }, estimatedTokens }: Measured) =>
  (estimate: number): number =>
    total === program || estimatedTokens === 0
      ? Math.ceil(estimate)
      : Math.round((estimate * (total - program)) / estimatedTokens);

/** Pure. */
export function marksOnScale(row: Measured, marks: readonly EntryMark[]): EntryMark[] {
  const scaled = onScaleOf(row);
  return marks.map((mark) =>
    mark.kind === "shortened" ? { ...mark, from: scaled(mark.from), to: scaled(mark.to) } : mark,
  );
}

/** Pure. What became of an entry, its sizes as the call counts. */
export const fateOnScale = (row: Measured, fated: EntryFate): EntryFate => ({
  ...fated,
  marks: marksOnScale(row, fated.marks),
});

/**
 * Pure. Of each item, in the order of the wire: what its source has in the row is shared out among
 * those of the source, so items, sources and total are of one scale, and their sums are equal.
 */
export function tokensOfItems(
  { tokens: bySource }: Pick<CallRow, "tokens">,
  items: readonly ReportItem[],
): number[] {
  const tokens: number[] = [];
  const all = items.map((item, place) => ({ item, place, tokens: item.tokens }));
  for (const source of SOURCES) {
    const own = all.filter(({ item }) => sourceOf(item) === source);
    const estimate = own.reduce((sum, each) => sum + each.tokens, 0);
    for (const each of shareOut(bySource[source], estimate)(own)) tokens[each.place] = each.tokens;
  }
  return tokens;
}

/** Pure. What the items made from an entry take in the call; undefined = none is. */
export function tokensOfEntry(
  row: Pick<CallRow, "tokens">,
  items: readonly ReportItem[],
): (entryId: string) => number | undefined {
  const tokens = tokensOfItems(row, items);
  const sums = new Map<string, number>();
  for (const [place, { source }] of items.entries())
    if (source.kind === "entry")
      sums.set(source.entryId, (sums.get(source.entryId) ?? 0) + tokens[place]!);
  return (entryId) => sums.get(entryId);
}
