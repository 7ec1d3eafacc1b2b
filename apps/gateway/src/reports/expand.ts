// Folds the full message list of a model call from the deltas before it.
import type { ModelCallReport, ReportItem, TurnReport } from "@clew/engine-core";

export interface LastRequest {
  report: TurnReport;
  call: ModelCallReport;
  /** Every message of the request, in order. */
  messages: ReportItem[];
}

/**
 * Pure. The list of the last of `calls`, or null when they hold no full list (`kept` 0) to start
 * from. `calls` are one session's calls in the order they were made, failed ones included: every
 * delta speaks of the call before it.
 */
export function foldMessages(calls: readonly ModelCallReport[]): ReportItem[] | null {
  const start = calls.findLastIndex(({ messages }) => messages.kept === 0);
  if (start < 0) return null;
  return calls
    .slice(start)
    .reduce<ReportItem[]>(
      (items, { messages }) => items.slice(0, messages.kept).concat(messages.items),
      [],
    );
}

/**
 * The last request of a session; null when the reports hold none, "incomplete" when older
 * ones are needed to know it.
 */
export function expandLastRequest(
  reports: readonly TurnReport[],
): LastRequest | null | "incomplete" {
  const report = reports.findLast(({ modelCalls }) => modelCalls.length > 0);
  const call = report?.modelCalls.at(-1);
  if (report === undefined || call === undefined) return null;
  const messages = foldMessages(reports.flatMap(({ modelCalls }) => modelCalls));
  return messages === null ? "incomplete" : { report, call, messages };
}
