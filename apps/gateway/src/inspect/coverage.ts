// Which entries the summaries of an engine stand for, as the engine says.
import type { ReportItem } from "@clew/engine-core";
import { originsOf, type TranscriptEntry } from "@clew/plugin-sdk/transcript";

/** Pure. Summary by entry; of two that cover the same one the later counts. */
export function planCoverage(
  path: readonly TranscriptEntry[],
  summaries: readonly ReportItem[],
): ReadonlyMap<string, string> {
  const covered = new Map<string, string>();
  if (summaries.every(({ covers = [] }) => covers.length === 0)) return covered;
  // Engines name messages by the entry that first said them.
  const origins = originsOf(path);
  const places = new Map(path.map(({ id }, at) => [origins.get(id) ?? id, at]));
  for (const { source, covers = [] } of summaries) {
    if (source.kind !== "summary") continue;
    for (const { from, until } of covers) {
      const first = from === undefined ? 0 : places.get(from);
      const end = places.get(until);
      if (first === undefined || end === undefined) continue;
      for (const { id } of path.slice(first, end)) covered.set(id, source.summaryId);
    }
  }
  return covered;
}
