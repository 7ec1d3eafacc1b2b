// What a context is made of after a compaction, and how large it is.
import { stepsAtOnce } from "@clew/plugin-sdk/host";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import {
  buildContext,
  type NewTranscriptEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import type { CompactTranscriptRequest } from "./compact-request.ts";
import type { SummaryPlan } from "./plan.ts";
import { shownSteps } from "./shown.ts";

/** Estimated tokens of the context that `branch` and these entries would make, as it is shown. */
export function tokensOf(
  { now = Date.now, session, model }: Pick<CompactTranscriptRequest, "now" | "session" | "model">,
  branch: readonly TranscriptEntry[],
  added: readonly NewTranscriptEntry[],
): number {
  const timestamp = new Date(now()).toISOString();
  const placed = added.map(
    (entry, index): TranscriptEntry => ({
      ...entry,
      id: `planned-${index}`,
      parentId: null,
      timestamp,
    }),
  );
  const messages = buildContext([...branch, ...placed]).items.map(({ message }) => message);
  const { contextWindow } = session ?? model.ref;
  return stepsAtOnce(shownSteps(messages, contextWindow, estimateMessage)).total.estimate;
}

/** All of a branch that a context after this plan's compaction is made of. */
export const keptPart = (
  branch: readonly TranscriptEntry[],
  { firstKeptEntryId }: SummaryPlan,
): readonly TranscriptEntry[] =>
  firstKeptEntryId === undefined
    ? []
    : branch.slice(branch.findLastIndex(({ id }) => id === firstKeptEntryId));

/** To be counted only: an id that is nowhere keeps nothing. */
export const plannedEntry = (
  summary: string,
  { firstKeptEntryId = "", tokensBefore }: SummaryPlan,
) => ({
  type: "compaction" as const,
  summary,
  firstKeptEntryId,
  tokensBefore,
});

/** True when some of what was cleared stays in the context. */
export function prunesKept(
  branch: readonly TranscriptEntry[],
  { prune, firstKeptEntryId }: SummaryPlan,
): boolean {
  if (firstKeptEntryId === undefined) return false;
  const kept = new Set(
    branch.slice(branch.findIndex(({ id }) => id === firstKeptEntryId)).map(({ id }) => id),
  );
  return prune?.entryIds.some((id) => kept.has(id)) ?? false;
}
