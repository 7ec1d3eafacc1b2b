// Carries a compaction out, and writes nothing unless the context shrinks.
import { type CompactCode, type CompactResult, isAbort } from "@clew/plugin-sdk/core";
import { type CompactionAsk, pause, stepsAtOnce, stepsInSlices } from "@clew/plugin-sdk/host";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import {
  buildContext,
  headOf,
  type NewTranscriptEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { detailsOf, usageSum } from "./details.ts";
import { type CompactionOptions, compactionOptions } from "./options.ts";
import { compactionSteps, type PlanInput, type PrunePlan, type SummaryPlan } from "./plan.ts";
import { type CompactionPreview, describePlan } from "./preview.ts";
import { type LedgerKeeper, ledgerOf } from "./record.ts";
import type { Circuit, RequestEnvironment, SummaryModel } from "./request.ts";
import { countInSlices } from "./serialize.ts";
import { shownSteps } from "./shown.ts";
import { type SummariserRest, withRest } from "./summariser-rest.ts";
import { toldSizes, toldTokens } from "./told-size.ts";
import { writeSummary } from "./write-summary.ts";

/**
 * What a compaction needs of a session's transcript. Give the same object for the same session: it
 * is how a second compaction at once is noticed.
 */
export interface CompactionTranscript {
  /** The active branch, oldest first. */
  branch(): readonly TranscriptEntry[];
  /** Appends all entries after the leaf, or none; resolves when they are durable. */
  append(entries: readonly NewTranscriptEntry[]): Promise<readonly TranscriptEntry[]>;
  /**
   * Where the account of names is kept between processes, so that a compaction after a restart
   * reads only what came since. Absent: nowhere, and it reads the whole branch.
   */
  ledger?: LedgerKeeper;
}

/** Which session to compact, by which model, and how far. */
export interface CompactTranscriptRequest
  extends CompactionAsk,
    Omit<RequestEnvironment, "model" | "circuit" | "timeoutMs" | "onUsage"> {
  /** The same object for the same session, always: so that a second compaction is noticed. */
  transcript: CompactionTranscript;
  /**
   * The model that summarises. Without `complete` none does: what is left out becomes a record made
   * by code, and that is no weaker summary.
   */
  model: Pick<SummaryModel, "ref"> & Partial<Pick<SummaryModel, "complete">>;
  /**
   * Limits of the session's model, when another one summarises, in tokens. Absent: those of
   * `model`.
   */
  session?: { contextWindow: number; maxOutputTokens: number };
  /** `agents.defaults.compaction`. Absent, in whole or in part, or unusable: the defaults. */
  options?: Partial<CompactionOptions>;
  /** Tokens of system prompt and tool schemas. Absent: 0. */
  fixedTokens?: number | undefined;
  /** Counted / estimated tokens of the session's model. Absent: 1. */
  tokenRatio?: number | undefined;
  /**
   * The tool by which the model can read a message by its id: what is cleared names it. Absent: it
   * has none.
   */
  reader?: string | undefined;
  /**
   * Which models were away when they were last asked to summarise; one object for all sessions of a
   * host. Absent: every compaction finds out for itself.
   */
  rest?: SummariserRest | undefined;
  /** ms since the epoch. Absent: Date.now. */
  now?: (() => number) | undefined;
}

export const PRUNE_ONLY_SUMMARY = "[Pruned tool outputs only - no summarization needed]";

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
  if (after >= plan.tokensBefore)
    return {
      ok: false,
      compacted: false,
      code: "no-gain",
      reason: "removed nothing: clearing old tool output does not shrink the context",
    };
  const wrote = await write(request, branch, [prune.record]);
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
  const wrote = await write(request, branch, entries);
  if (!wrote.ok) return wrote;
  const result = {
    summary: written.text,
    firstKeptEntryId: from.entryId,
    ...toldSizes(plan, after),
    details,
  };
  return {
    ok: true,
    compacted: true,
    ...(written.reason !== undefined && { code: "weaker-summary", reason: written.reason }),
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

const isSummariser = (model: CompactTranscriptRequest["model"]): model is SummaryModel =>
  model.complete !== undefined;

/**
 * What a compaction points to that keeps nothing: an entry on the path, never part of the context.
 */
export const NOTHING_KEPT_RECORD = "clew.nothing-kept";

type Written<Value> =
  | ({ ok: true } & Value)
  | { ok: false; compacted: false; code: CompactCode; reason: string };

async function firstKept(
  request: CompactTranscriptRequest,
  branch: readonly TranscriptEntry[],
  { firstKeptEntryId }: SummaryPlan,
): Promise<Written<{ entryId: string }>> {
  if (firstKeptEntryId !== undefined) return { ok: true, entryId: firstKeptEntryId };
  const wrote = await write(request, branch, [
    { type: "custom", customType: NOTHING_KEPT_RECORD, data: { v: 1 } },
  ]);
  return wrote.ok ? { ok: true, entryId: wrote.entries[0]!.id } : wrote;
}

/** The entries as they were stored, durable; or why nothing was written. */
async function write(
  { transcript, signal }: CompactTranscriptRequest,
  planned: readonly TranscriptEntry[],
  entries: readonly NewTranscriptEntry[],
): Promise<Written<{ entries: readonly TranscriptEntry[] }>> {
  const now = transcript.branch();
  if (now.length < planned.length || now[planned.length - 1]?.id !== planned.at(-1)?.id)
    return {
      ok: false,
      compacted: false,
      code: "session-moved",
      reason: "the session moved to another branch in the meantime; nothing was written",
    };
  if (now.slice(planned.length).some(({ type }) => type === "compaction" || type === "reset"))
    return {
      ok: false,
      compacted: false,
      code: "session-moved",
      reason: "the session was compacted or reset in the meantime; nothing was written",
    };
  try {
    return { ok: true, entries: await transcript.append(entries) };
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    // The disk's failure, not the session's: append wrote all or nothing.
    const what = error instanceof Error ? headOf(error.message, 300) : "unknown error";
    return {
      ok: false,
      compacted: false,
      code: "not-written",
      reason: `the compaction could not be written (${what}); history is untouched`,
    };
  }
}

/** Estimated tokens of the context that `branch` and these entries would make, as it is shown. */
function tokensOf(
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
const keptPart = (
  branch: readonly TranscriptEntry[],
  { firstKeptEntryId }: SummaryPlan,
): readonly TranscriptEntry[] =>
  firstKeptEntryId === undefined
    ? []
    : branch.slice(branch.findLastIndex(({ id }) => id === firstKeptEntryId));

/** To be counted only: an id that is nowhere keeps nothing. */
const plannedEntry = (summary: string, { firstKeptEntryId = "", tokensBefore }: SummaryPlan) => ({
  type: "compaction" as const,
  summary,
  firstKeptEntryId,
  tokensBefore,
});

/** True when some of what was cleared stays in the context. */
function prunesKept(
  branch: readonly TranscriptEntry[],
  { prune, firstKeptEntryId }: SummaryPlan,
): boolean {
  if (firstKeptEntryId === undefined) return false;
  const kept = new Set(
    branch.slice(branch.findIndex(({ id }) => id === firstKeptEntryId)).map(({ id }) => id),
  );
  return prune?.entryIds.some((id) => kept.has(id)) ?? false;
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
  return describePlan(plan, window);
}
