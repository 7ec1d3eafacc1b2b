// Remembers the newest call that showed each summary.
import type { ReportItem } from "@clew/engine-core";

export interface ShownSummaries {
  /** Each summary with the newest call that showed it. */
  readonly all: readonly ShownIn[];
  /** Before the first call: `before` counts those that there were, and the next lists all. */
  restore(all: readonly ShownIn[], before: number): void;
  /** Takes in the next call: how many leading messages stayed, and what came behind them. */
  add(kept: number, items: readonly ReportItem[]): void;
  /** Counts calls from 0; undefined = no call showed it. */
  newestWith(summaryId: string): number | undefined;
}

type ShownIn = readonly [summaryId: string, call: number];

/** `summaryOf`: the summary that an item of the call that is added is, or null. */
export function createShownSummaries(
  summaryOf: (item: ReportItem) => string | null,
): ShownSummaries {
  /** Of the newest call, with the place of its first item. */
  const shown = new Map<string, number>();
  const gone = new Map<string, number>();
  let calls = 0;
  return {
    get all() {
      return [...gone, ...[...shown.keys()].map((id) => [id, calls - 1] as const)];
    },
    restore(all, before) {
      for (const [id, call] of all) gone.set(id, call);
      calls = before;
    },
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
