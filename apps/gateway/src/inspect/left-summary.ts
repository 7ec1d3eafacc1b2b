// Says what took a summary that stood in one call from another.
import { UNDO_RECORD } from "@clew/legacy-engine";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { coveredBy } from "./describe-call.ts";
import type { OpenedCall } from "./opened-call.ts";

/** Pure. In words; null = nobody knows. `to`: the call, behind `from`, that does not show it. */
export function whySummaryLeft(summaryId: string, from: OpenedCall, to: OpenedCall): string | null {
  const isHost = from.find(summaryId)?.type === "compaction";
  return isHost ? whyHostsLeft(summaryId, to) : whyEnginesLeft(summaryId, from, to);
}

function whyHostsLeft(summaryId: string, { path, placeOf }: OpenedCall): string | null {
  const undo = path.findLast((entry) => undoneBy(entry).includes(summaryId));
  const last = path.findLast(({ type }) => type === "compaction" || type === "reset");
  if (undo !== undefined) {
    const stands = last?.type === "compaction" ? `summary ${last.id} stands` : "no summary stands";
    return `its compaction was undone ${timeOf(undo)}; ${stands} in its place`;
  }
  if (placeOf(summaryId) === undefined) return "the session went on from an entry before it";
  if (last === undefined || last.id === summaryId) return null;
  return last.type === "reset"
    ? `a reset ${timeOf(last)} hides it`
    : `summary ${last.id}, made ${timeOf(last)}, stands in its place`;
}

/** By what stands for the entries that it covered. */
function whyEnginesLeft(summaryId: string, from: OpenedCall, to: OpenedCall): string | null {
  const covered = coveredBy(from, summaryId, false);
  if (covered.length === 0) return null;
  const fates = covered.map(({ id }) => to.fateOf(id)?.fate);
  const ids = [
    ...new Set(fates.flatMap((fate) => (fate?.kind === "summary" ? fate.summaryId : []))),
  ];
  if (ids.length > 0)
    return `${ids.length === 1 ? "summary" : "summaries"} ${ids.join(", ")} ${ids.length === 1 ? "stands" : "stand"} in its place`;
  return fates.every((fate) => fate?.kind === "shown") ? "what it stood for is shown again" : null;
}

function undoneBy(entry: TranscriptEntry): readonly unknown[] {
  if (entry.type !== "custom" || entry.customType !== UNDO_RECORD) return [];
  const { entryIds } = (entry.data ?? {}) as { entryIds?: unknown };
  return Array.isArray(entryIds) ? entryIds : [];
}

const timeOf = ({ timestamp }: TranscriptEntry): string => timestamp.slice(0, 19).replace("T", " ");
