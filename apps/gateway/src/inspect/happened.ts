// Tells what happened before a model call.
import type { CompactionReport, TurnReport } from "@clew/engine-core";
import { UNDO_RECORD } from "@clew/legacy-engine";
import { estimateText } from "@clew/plugin-sdk/tokens";
import {
  pruneRecordOf,
  sessionProjections,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { isByClient, leafBeforeUndo } from "../sessions/undo-turn.ts";
import { counted, number } from "../text/number.ts";
import { WENT_ON } from "./left-entries.ts";
import { degradedIn, type PlacedCall } from "./placed-call.ts";
import type { CallMark } from "./shapes/calls.ts";
import { isMadeSmaller } from "./unseen.ts";

/** What came between two calls. */
export interface Between {
  /** Entries that the call before did not have. */
  fresh: readonly TranscriptEntry[];
  /** How many entries a compaction or reset hides now. */
  hiddenBy: (id: string) => number;
  /** True: entries that the call before had are not on the branch any more. */
  isTurned: boolean;
  /** What the call takes for a summary of so many estimated tokens. */
  tokensOf: (entryId: string, estimate: number) => number;
  /** As reported. */
  compactions: readonly CompactionReport[];
  /** What the program that made it did with its thread, in words. */
  threads: readonly string[];
  /** Why messages had no reply, of which no call tells. */
  unanswered: readonly string[];
}

/** Pure. */
export function planMarks(
  placed: PlacedCall,
  between: Pick<Between, "fresh" | "compactions" | "threads">,
): CallMark[] {
  const { call, report, number: at } = placed;
  const { fresh, compactions, threads } = between;
  const isCompacted =
    threads.includes(MADE_SMALLER) ||
    fresh.some(({ type }) => type === "compaction") ||
    compactions.some(({ compacted }) => compacted);
  const isPruned = fresh.some((entry) => prunedBy(entry) > 0);
  const { broke } = call.cache ?? {};
  const isDegraded = degradedIn(placed) !== null || (report.views?.fallbacks ?? 0) > 0;
  const isOverflow = call.failure?.kind === "overflow";
  const isStopped = call.failure?.kind === "aborted";
  const isFallback = call.model !== undefined ? at > 1 : report.model.fallback !== undefined;
  const marks: [boolean, CallMark][] = [
    [isCompacted, "compaction"],
    [isPruned, "prune"],
    [isOverflow, "overflow"],
    [broke !== undefined && BROKEN.has(broke.code), "cache-broken"],
    [isDegraded, "degraded"],
    [call.error !== null && !isOverflow && !isStopped, "failed"],
    [isStopped, "stopped"],
    [isFallback, "fallback"],
  ];
  return marks.flatMap(([is, mark]) => (is ? [mark] : []));
}

/** What was in the provider's cache and cannot be used. */
const BROKEN: ReadonlySet<string> = new Set([
  ...["model-changed", "tools-changed", "system-changed", "messages-changed", "expired"],
]);

/** Pure. A sentence each, in order. */
export function describeBetween(between: Between): string[] {
  const { fresh, isTurned, compactions, threads, unanswered } = between;
  const isUndone = fresh.some(isUndo);
  const isInTranscript = fresh.some(({ type }) => type === "compaction");
  const isByHost = isUndone || fresh.some((entry) => prunedBy(entry) > 0);
  // The host's own are in the transcript; of others, and of undone ones, only the report tells.
  const reported = isInTranscript ? [] : compactions.flatMap(describeReported(isByHost));
  const told = fresh.flatMap((entry) => describeEntry(entry, between));
  return [
    ...(isTurned && !isUndone ? [whyTurned(fresh)] : []),
    ...(isUndone ? [...reported, ...told] : [...told, ...reported]),
    ...threads,
    ...unanswered.map((why) => `a message had no reply: ${why}`),
  ];
}

/** Pure. What the door's view left of a request that moved the view on; nothing where it stayed. */
export function describeCut({ door }: Pick<TurnReport, "door">): string[] {
  const view = door?.view;
  if (view === undefined || !view.moved) return [];
  const what = [
    `${number(view.setAside)} tokens set aside`,
    ...(view.leftOut === 0 ? [] : [`${counted(view.leftOut, "message")} left out`]),
  ];
  return [`shortened to ${number(view.tokens)} tokens by the door's view (${what.join(", ")})`];
}

const MADE_SMALLER = "the program compacted its own thread";

/**
 * Pure. Which thread of a program a call was made in, where that is another one than before, and
 * that the program made it smaller by itself. `wasSeen`: all that the call before showed is known.
 */
export function describeThreads(
  { call, report, number: at }: PlacedCall,
  { isFirst, wasSeen }: { isFirst: boolean; wasSeen: boolean },
): string[] {
  if (call.harness === undefined) return [];
  const began =
    at > 1 || isFirst
      ? []
      : (report.execution?.projections ?? []).flatMap(({ thread, reason }) =>
          thread === "new" ? [`another thread of the program: ${reason}`] : [],
        );
  const isSmaller = wasSeen && call.held === undefined && isMadeSmaller(report);
  return [...began, ...(isSmaller ? [MADE_SMALLER] : [])];
}

/** The newest mark stands for all: those before it left the branch with what they marked. */
function whyTurned(fresh: readonly TranscriptEntry[]): string {
  const mark = fresh.findLast((entry) => leafBeforeUndo(entry) !== null);
  if (mark === undefined) return WENT_ON;
  return isByClient(mark)
    ? "its client went on without what was said last"
    : "what was said last was taken back with /undo";
}

const isUndo = (entry: TranscriptEntry) =>
  entry.type === "custom" && entry.customType === UNDO_RECORD;

/** How many results an entry says are shortened or cleared from now on. */
const prunedBy = (entry: TranscriptEntry): number =>
  pruneRecordOf(entry)?.entryIds.length ?? sessionProjections([entry]).length;

function describeEntry(entry: TranscriptEntry, { hiddenBy, tokensOf }: Between): string[] {
  if (isUndo(entry)) return ["a compaction was undone"];
  if (entry.type === "reset") return ["reset: what was said before is not shown any more"];
  if (entry.type === "compaction") {
    const covers = hiddenBy(entry.id);
    const tokens = tokensOf(entry.id, Math.ceil(estimateText(entry.summary).estimate));
    const what = `${number(covers)} ${covers === 1 ? "entry" : "entries"}`;
    return [`compaction: ${what} → ${number(tokens)} tokens`];
  }
  const cleared = pruneRecordOf(entry)?.entryIds.length ?? 0;
  const kept = cleared > 0 ? [] : sessionProjections([entry]);
  const hard = kept.filter(({ kind }) => kind === "hard").length;
  const words = [
    ...(kept.length > hard ? [`${counted(kept.length - hard, "tool result")} shortened`] : []),
    ...(cleared + hard > 0 ? [`${counted(cleared + hard, "tool result")} cleared`] : []),
  ];
  return words.length === 0 ? [] : [`prune: ${words.join(", ")}`];
}

const describeReported =
  (isByHost: boolean) =>
  ({ compacted, tokensBefore, tokensAfter }: CompactionReport): string[] => {
    if (!compacted) return [];
    const what = isByHost ? "compaction" : "compaction by the engine";
    return [
      tokensBefore === null || tokensAfter === null
        ? what
        : `${what}: ${number(tokensBefore)} → ${number(tokensAfter)} tokens`,
    ];
  };
