// Says in words what became of an entry, who did it and how to get it back.

import { formatCount } from "../../src/conversation/format.ts";
import type { EntryMark, EntryRow, Fate, FateCounts } from "../../src/inspect/shapes/entries.ts";

/** What the list of entries can be narrowed to; "in:ID": those in one summary. */
export type FateFilter = "all" | FateKind | MarkKind | `in:${string}`;
export type FateKind = Fate["kind"];
export type MarkKind = EntryMark["kind"];

export interface FateWords {
  glyph: string;
  /** A word or two for a row. */
  label: string;
  /** Who removed it; for a shown one, that it is there. */
  why: string;
  /** How to get it back; null = nothing is missing. */
  back: string | null;
}

export function describeFate(
  { fate, number }: Pick<EntryRow, "fate" | "number">,
  session: string,
): FateWords {
  const inTerminal = `“clew inspect ${session} --entry ${number}” tells its way, “clew sessions show ${session}” prints it.`;
  switch (fate.kind) {
    case "shown":
      return { glyph: "●", label: "shown", why: "The model was sent it.", back: null };
    case "summary":
      return {
        ...{ glyph: "░", label: "in summary" },
        why: `Summary ${fate.summaryId} stands in its place.`,
        back: `Undo the compaction, or ask for it again: it is stored whole. ${inTerminal}`,
      };
    case "cleared":
      return {
        ...{ glyph: "✂", label: "cleared" },
        why: `The rule ${fate.rule} put a placeholder in its place.`,
        back: `It is stored whole. ${inTerminal}`,
      };
    case "left-out":
      return {
        ...{ glyph: "○", label: `left out by ${WHO[fate.by]}` },
        why: `Left out by ${WHO[fate.by]}: ${fate.why}.`.replace(/\.\.$/, "."),
        back: `It is stored whole. ${inTerminal}`,
      };
    case "unseen":
      return {
        ...{ glyph: "◌", label: "not seen from here" },
        why: `It is ${fate.why}.`,
        back: null,
      };
  }
}

const WHO = {
  engine: "the engine",
  host: "the host",
  policy: "the provider policy",
  person: "a person",
  program: "the program",
} as const;

/** "4,096 of 12,800 tokens (rule)", "changed (rule)", or "changed (rule): id call_7 → call7". */
export function describeMark(mark: EntryMark): string {
  if (mark.kind === "shortened")
    return `✂ ${formatCount(mark.to)} of ${formatCount(mark.from)} tokens (${mark.rule})`;
  const { rule, ids = [] } = mark;
  const told = ids.map(({ from, to }) => `id ${from} → ${to}`).join(", ");
  return `~ changed (${rule})${told === "" ? "" : `: ${told}`}`;
}

/** Pure. What a short reason means where nothing else is said of an item. */
export function explainReason(reason: string): string {
  if (reason === "history") return "history: it was said before, and nothing took it from the view";
  if (reason === "prompt") return "prompt: the message that this turn answers";
  return reason;
}

export interface FilterChoice {
  filter: FateFilter;
  label: string;
  count: number;
}

/** What there is to choose from in a call; the five fates add up to all. */
export function filterChoices(counts: FateCounts): FilterChoice[] {
  return [
    { filter: "all", label: "all", count: counts.all },
    { filter: "shown", label: "shown", count: counts.shown },
    { filter: "summary", label: "in a summary", count: counts.summary },
    { filter: "cleared", label: "cleared", count: counts.cleared },
    { filter: "left-out", label: "left out", count: counts.leftOut },
    ...(counts.unseen === 0
      ? []
      : [{ filter: "unseen" as const, label: "not seen from here", count: counts.unseen }]),
    { filter: "shortened", label: "shortened", count: counts.shortened },
    { filter: "changed", label: "changed", count: counts.changed },
  ];
}

/** "1,240 of 1,358 entries not shown: 1,240 in a summary". */
export function describeMissing({
  all,
  shown,
  summary,
  cleared,
  leftOut,
  unseen,
}: FateCounts): string {
  const missing = all - shown;
  if (missing === 0)
    return all === 1 ? "The one entry is shown." : `All ${formatCount(all)} entries are shown.`;
  const parts = [
    ...(summary > 0 ? [`${formatCount(summary)} in a summary`] : []),
    ...(cleared > 0 ? [`${formatCount(cleared)} cleared`] : []),
    ...(leftOut > 0 ? [`${formatCount(leftOut)} left out`] : []),
    ...(unseen > 0
      ? [`${formatCount(unseen)} in the program's own session, not seen from here`]
      : []),
  ];
  return `${formatCount(missing)} of ${formatCount(all)} entries not shown: ${parts.join(", ")}.`;
}
