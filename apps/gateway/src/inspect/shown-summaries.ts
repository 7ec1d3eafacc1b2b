// Remembers the newest call that showed each summary.
import type { ReportItem } from "@clew/engine-core";

export interface ShownSummaries {
  /** Takes in the next call: how many leading messages stayed, and what came behind them. */
  add(kept: number, items: readonly ReportItem[]): void;
  /** Counts calls from 0; undefined = no call showed it. */
  newestWith(summaryId: string): number | undefined;
}

/** `summaryOf`: the summary that an item of the call that is added is, or null. */
export function createShownSummaries(
  summaryOf: (item: ReportItem) => string | null,
): ShownSummaries {
  /** Of the newest call, with the place of its first item. */
  const shown = new Map<string, number>();
  const gone = new Map<string, number>();
  let calls = 0;
  return {
    add(kept, items) {
      for (const [id, place] of shown) {
        if (place < kept) continue;
        shown.delete(id);
        gone.set(id, calls - 1);
      }
      for (const [offset, item] of items.entries()) {
        const id = summaryOf(item);
        if (id !== null && !shown.has(id)) shown.set(id, kept + offset);
      }
      calls++;
    },
    newestWith: (id) => (shown.has(id) ? calls - 1 : gone.get(id)),
  };
}
