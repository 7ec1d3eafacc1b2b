// Carries a compaction out, and writes nothing unless the context shrinks.
import type { CompactResult } from "@clew/plugin-sdk/core";
import { pause, stepsInSlices } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import {
  type CompactionTranscript,
  type CompactTranscriptRequest,
  isSummariser,
} from "./compact-request.ts";
import { detailsOf, usageSum } from "./details.ts";
import { whyShortened } from "./facts.ts";
import { keptPart, plannedEntry, prunesKept, tokensOf } from "./kept-context.ts";
import { type CompactionOptions, compactionOptions } from "./options.ts";
import { compactionSteps, type PlanInput, type PrunePlan, type SummaryPlan } from "./plan.ts";
import { type CompactionPreview, describePlan } from "./preview.ts";
import { ledgerOf } from "./record.ts";
import type { Circuit } from "./request.ts";
import { countInSlices } from "./serialize.ts";
import { withRest } from "./summariser-rest.ts";
import { toldSizes, toldTokens } from "./told-size.ts";
import { firstKept, writeEntries } from "./write-entries.ts";
import { writeSummary } from "./write-summary.ts";

const PRUNE_ONLY_SUMMARY = "[Pruned tool outputs only - no summarization needed]";

const running = new WeakSet<CompactionTranscript>();

/**
 * One compaction: old tool output is cleared first, and where that is not enough the older history
 * is summarised. Written only when the context is smaller afterwards
 * (`tokensAfter < tokensBefore`); else history is untouched and `reason` says why. Throws only the
 * caller's abort, before anything is written, and what the transcript's `branch` throws.
 * @example
 * ```ts
 * import { compactTranscript } from "@clew/legacy-engine";
 * import { conversation } from "@clew/plugin-sdk/testing";
 * import {
 *   type NewTranscriptEntry,
 *   placeEntry,
 *   type TranscriptEntry,
 * } from "@clew/plugin-sdk/transcript";
 *
 * let branch: TranscriptEntry[] = [];
 * const transcript = {
 *   branch: () => branch,
 *   async append(entries: readonly NewTranscriptEntry[]) {
 *     const added = entries.map((entry, index): TranscriptEntry => {
 *       const id = `e${branch.length + index}`;
 *       return placeEntry(entry, { id, parentId: null, timestamp: new Date().toISOString() });
 *     });
 *     branch = [...branch, ...added];
 *     return added;
 *   },
 * };
 * const messages = conversation({ turns: 200, tools: 1 });
 * await transcript.append(messages.map((message) => ({ type: "message", message })));
 *
 * // A model that is signed out: the summary is made by code.
 * const error = { kind: "auth" as const, message: "no key" };
 * const model = {
 *   ref: { provider: "x", api: "x", id: "x", contextWindow: 16_000, maxOutputTokens: 4_000 },
 *   complete: async () => ({ ok: false as const, error }),
 * };
 * const { compacted, code } = await compactTranscript({ transcript, model, trigger: "manual" });
 * console.log(compacted, code, branch.at(-1)?.type);
 * ```
 *
 * ```text
 * true weaker-summary compaction
 * ```
 */
export async function compactTranscript(request: CompactTranscriptRequest): Promise<CompactResult> {
  request.signal?.throwIfAborted();
  const { transcript } = request;
  if (running.has(transcript))
    return {
      ok: false,
      compacted: false,
      code: "busy",
      reason: "another compaction of this session is running; wait for it",
    };
  running.add(transcript);
  try {
    return await compact(request);
  } finally {
    running.delete(transcript);
  }
}

async function compact(request: CompactTranscriptRequest): Promise<CompactResult> {
  const branch = request.transcript.branch();
  const options = compactionOptions(request.options);
  const { signal } = request;
  const plan = await stepsInSlices(compactionSteps(planInput(request, branch, options)), {
    signal,
  });
  switch (plan.kind) {
    case "nothing":
      return { ok: plan.ok, compacted: false, code: plan.code, reason: plan.reason };
    case "prune":
      return writePrune(request, branch, plan);
    case "summarise":
      return summarise(request, branch, plan, options);
  }
}

function planInput(
  request: CompactTranscriptRequest,
  branch: readonly TranscriptEntry[],
  options: CompactionOptions,
): PlanInput {
  const { contextWindow, maxOutputTokens } = request.session ?? request.model.ref;
  return { ...request, branch, options, contextWindow, maxOutputTokens };
}

async function writePrune(
  request: CompactTranscriptRequest,
  branch: readonly TranscriptEntry[],
  plan: Omit<PrunePlan, "kind" | "tokensAfter">,
  why?: string,
): Promise<CompactResult> {
  const { prune, firstKeptEntryId } = plan;
  const after = tokensOf(request, branch, [prune.record]);
  const wrote = await writeEntries(request, branch, [prune.record]);
  if (!wrote.ok) return wrote;
  const reason =
    why ??
    (request.trigger === "manual" ? "pruned only; /compact <focus> summarises" : "pruned only");
  const details = {
    pruneOnly: true,
    prunedCount: prune.entryIds.length,
    prunedTokens: prune.freedTokens,
  };
  return {
    ok: true,
    compacted: true,
    code: "pruned-only",
    reason,
    result: {
      summary: PRUNE_ONLY_SUMMARY,
      firstKeptEntryId,
      ...toldSizes(plan, after),
      details,
    },
  };
}

async function summarise(
  request: CompactTranscriptRequest,
  branch: readonly TranscriptEntry[],
  plan: SummaryPlan,
  options: CompactionOptions,
): Promise<CompactResult> {
  const { model, signal, sleep, random, onProgress, focus } = request;
  const { rest, now = Date.now } = request;
  const usage = usageSum();
  const circuit: Circuit = { brokenBy: rest?.reason(model.ref, now()) };
  const environment = isSummariser(model) && {
    ...{ model, signal, sleep, random, onProgress, circuit },
    timeoutMs: options.timeoutSeconds * 1000,
    onUsage: usage.add,
  };
  const { tokensBefore, perEstimate } = plan;
  const kept = keptPart(branch, plan);
  const shrinks = (summary: string) =>
    tokensOf(request, kept, [plannedEntry(summary, plan)]) < tokensBefore;
  const ledger = await ledgerOf(plan.covered, request.transcript, signal);
  const found = await writeSummary({
    ...{ plan, options, environment, focus, signal, shrinks, ledger },
  });
  await pause(signal);
  signal?.throwIfAborted();
  const written = withRestOf(request, circuit, found);
  if (written.text === undefined) {
    if (plan.prune === undefined)
      return { ok: false, compacted: false, code: "no-gain", reason: written.reason };
    return writePrune(
      request,
      branch,
      {
        ...{ prune: plan.prune, tokensBefore, perEstimate },
        firstKeptEntryId: branch[0]!.id,
      },
      `pruned only; ${written.reason}`,
    );
  }

  const withPrune = plan.prune !== undefined && prunesKept(branch, plan);
  const details = detailsOf(request.trigger, plan, written, withPrune, usage.total());
  const entriesFor = (firstKeptEntryId: string) => {
    const entry = {
      type: "compaction" as const,
      summary: written.text,
      firstKeptEntryId,
      tokensBefore: toldTokens(plan, tokensBefore),
      details,
    };
    return withPrune ? [plan.prune!.record, entry] : [entry];
  };
  const from = await firstKept(request, branch, plan);
  if (!from.ok) return from;
  const entries = entriesFor(from.entryId);
  const after = tokensOf(request, kept, entries);
  const wrote = await writeEntries(request, branch, entries);
  if (!wrote.ok) return wrote;
  const result = {
    summary: written.text,
    firstKeptEntryId: from.entryId,
    ...toldSizes(plan, after),
    details,
  };
  const reason = written.reason ?? whyShortened(plan, written.text);
  return {
    ok: true,
    compacted: true,
    ...(reason !== undefined && { code: "weaker-summary", reason }),
    result,
  };
}

/** A model that was away now is left alone by the next compactions; the reason says so. */
function withRestOf<Found extends { reason: string | undefined }>(
  { model, rest, now = Date.now }: CompactTranscriptRequest,
  { brokenBy, restMs }: Circuit,
  found: Found,
): Found {
  if (rest === undefined || restMs === undefined || brokenBy === undefined) return found;
  rest.begin(model.ref, { reason: brokenBy, restMs, now: now() });
  return { ...found, reason: withRest(found.reason ?? brokenBy, restMs) };
}

/** What a compaction would do, in slices; nothing is asked of a model and nothing is written. */
export async function previewCompaction(
  request: CompactTranscriptRequest,
): Promise<CompactionPreview> {
  const { model, signal, transcript } = request;
  const input = planInput(request, transcript.branch(), compactionOptions(request.options));
  const plan = await stepsInSlices(compactionSteps(input), { signal });
  const window = isSummariser(model) ? model.ref.contextWindow : null;
  if (plan.kind === "summarise" && window !== null)
    await countInSlices([...plan.history, ...plan.prefix], signal);
  const { rest, now = Date.now } = request;
  return describePlan(plan, { window, notAsked: rest?.reason(model.ref, now()) });
}
