// Explains why one model call held what it held.
import { counted, number } from "../text/number.ts";
import { isMember, planBoundaries } from "./boundaries.ts";
import { numbersOf, type PlacedItem, summaryIn } from "./describe-items.ts";
import type { OpenedCall } from "./session-calls.ts";
import type { SummaryRow } from "./shapes.ts";

/** Pure. A sentence each: engine, budget, size, policy, recovery. */
export function explainCall({ report, call, row }: OpenedCall): string[] {
  const { engine, budget } = report;
  const { size, policyChanges, remedies = [], leftOut = [] } = call;
  const { fates } = row;
  return [
    engine.degraded === null
      ? `Engine "${engine.ran}" chose, as ${engine.source === "configured" ? "configured" : "it is by default"}.`
      : `Engine "${engine.ran}" chose in place of "${engine.configured ?? engine.infoId}", which failed in ${engine.degraded.operation}: ${engine.degraded.reason}`,
    ...(budget === null
      ? []
      : [
          `The window holds ${number(budget.contextWindow)} tokens; ${number(budget.reserve)} are kept for the reply, so a prompt has ${number(budget.promptBudget)}.`,
        ]),
    ...(size === undefined
      ? []
      : [
          `It was found to be about ${number(size.tokens)} tokens (${size.source === "counted" ? "the provider's count and what came since" : "estimated"}); messages are compacted above ${number(size.water.high)}.`,
        ]),
    `${number(fates.shown)} of ${counted(fates.all, "entry", "entries")} were shown, ${number(fates.summary)} stood in summaries, ${number(fates.cleared)} were cleared, ${number(fates.leftOut)} were left out.`,
    ...rulesOf(policyChanges),
    ...(row.cache?.broke == null ? [] : [`Not all could come from the cache: ${row.cache.broke}.`]),
    ...(remedies.length === 0
      ? []
      : [`The model had refused something, so it was asked differently: ${remedies.join(", ")}.`]),
    ...leftOut.map((what) => `Not asked of this model: ${what}.`),
  ];
}

function rulesOf(changes: OpenedCall["call"]["policyChanges"]): string[] {
  if (changes.length === 0) return [];
  const rules = new Map<string, number>();
  for (const { rule, count = 1 } of changes) rules.set(rule, (rules.get(rule) ?? 0) + count);
  const words = [...rules].map(([rule, count]) => `${rule} ${number(count)}×`);
  return [`The transcript policy of the provider made changes: ${words.join(", ")}.`];
}

/** Pure. Summaries that stood in the call, in order; `textOf` knows their texts. */
export function describeSummaries(
  opened: OpenedCall,
  textOf: (item: PlacedItem) => string,
): SummaryRow[] {
  const { path, messages, report, facts } = opened;
  const compactions = new Map(
    path.flatMap((entry, at) => (entry.type === "compaction" ? [[entry.id, at] as const] : [])),
  );
  const ids = new Set(compactions.keys());
  const numbers = numbersOf(path);
  const hidden = planBoundaries(path);
  const rows = new Map<string, SummaryRow>();
  for (const [index, item] of messages.entries()) {
    const summaryId = summaryIn(item.source, ids);
    if (summaryId === null) continue;
    const isHost = item.source.kind === "entry";
    const covers = path.flatMap((entry, at) => {
      const isIn = isHost
        ? hidden[at]?.id === summaryId
        : facts.covered.get(entry.id) === summaryId;
      return isMember(entry) && isIn ? [numbers.get(entry.id)!] : [];
    });
    const known = rows.get(summaryId);
    const text = textOf({ part: "messages", index, item });
    rows.set(summaryId, {
      summaryId,
      by: isHost ? "compaction" : report.engine.ran,
      tokens: (known?.tokens ?? 0) + item.tokens,
      covers:
        covers.length === 0
          ? null
          : { from: covers[0]!, to: covers.at(-1)!, entries: covers.length },
      sources: isHost ? sourcesOf(path, compactions.get(summaryId)!) : [],
      text: known === undefined ? text : `${known.text}\n\n${text}`,
    });
  }
  return [...rows.values()];
}

/** The compaction that a compaction was made from, unless a reset came between. */
function sourcesOf(path: OpenedCall["path"], at: number): string[] {
  const before = path
    .slice(0, at)
    .findLast(({ type }) => type === "compaction" || type === "reset");
  return before?.type === "compaction" ? [before.id] : [];
}
