// Decides whether clearing old tool output is enough, and else what to summarise.
import type { AgentMessage, CompactCode } from "@clew/plugin-sdk/core";
import { type CompactionAsk, newestTokensOf, type Steps, stepsAtOnce } from "@clew/plugin-sdk/host";
import { estimateMessage, estimateText } from "@clew/plugin-sdk/tokens";
import {
  atomicGroupSteps,
  blocksOf,
  type CompactionEntry,
  type ContextItem,
  contextSteps,
  decidePruneEnough,
  type FileOperations,
  fileOperationSteps,
  type OpenRequest,
  openRequest as openRequestOf,
  type RecordRoom,
  requestTextOf,
  type TranscriptEntry,
  textOf,
} from "@clew/plugin-sdk/transcript";
import { findCut } from "./cut.ts";
import { type CompactionLimits, planLimits } from "./limits.ts";
import type { CompactionOptions } from "./options.ts";
import { type PruneStep, pruneSteps } from "./prune-step.ts";
import { isTooLong, recordRoomFor, recordTokensOf, roomBesideRequest } from "./record-room.ts";
import { type CountTokens, type Sized, shownSteps, sizeSteps } from "./shown.ts";
import { countedPerEstimate, type PlannedSize, scaleOf, toldTokens } from "./told-size.ts";

export interface PlanInput extends CompactionAsk {
  /** The active branch, oldest first. */
  branch: readonly TranscriptEntry[];
  options: CompactionOptions;
  /** The session's model. Tokens. */
  contextWindow: number;
  maxOutputTokens: number;
  /** Tokens of system prompt and tool schemas. Default 0. */
  fixedTokens?: number | undefined;
  /** Counted / estimated tokens of the session's model. Default 1. */
  tokenRatio?: number | undefined;
  /** The tool that shows a cleared result by its id. Default none. */
  reader?: string | undefined;
}

export type CompactionPlan = NothingPlan | PrunePlan | SummaryPlan;

export interface NothingPlan extends PlannedSize {
  kind: "nothing";
  /** False: a compaction was needed and cannot be made. */
  ok: boolean;
  code: CompactCode;
  reason: string;
}

export interface PrunePlan extends PlannedSize {
  kind: "prune";
  prune: PruneStep;
  /** Estimated tokens of the messages that are left, as requests show them. */
  tokensAfter: number;
  firstKeptEntryId: string;
}

export interface SummaryPlan extends PlannedSize {
  kind: "summarise";
  limits: CompactionLimits;
  /** Counted / estimated tokens of the session's model. */
  tokenRatio: number;
  /** Cleared besides; undefined when nothing qualifies. */
  prune: PruneStep | undefined;
  /** The originals, whatever was cleared. */
  history: AgentMessage[];
  /** Beginning of a turn whose end is kept. */
  prefix: AgentMessage[];
  /** Files that these read or changed. */
  files: FileOperations;
  previous: CompactionEntry | undefined;
  /** On the branch, and after any earlier boundary; undefined = nothing is kept. */
  firstKeptEntryId: string | undefined;
  /** What stays, as requests show it. */
  kept: readonly AgentMessage[];
  keptTokens: number;
  /** Tokens of what is summarised. */
  summarisedTokens: number;
  openRequest: OpenRequest | undefined;
  /** The open request is no message of the kept part. */
  openRequestCut: boolean;
  /** Every entry of the branch before the first kept one, or all: what the record is made of. */
  covered: readonly TranscriptEntry[];
  /** Most tokens of the record beside the summary. */
  recordRoom: RecordRoom;
  /** The tool that reads an entry by its id; undefined = there is none. */
  reader: string | undefined;
}

// A summary has headings of its own: what is smaller than this cannot be made smaller by one.
const MIN_SUMMARISED_TOKENS = 200;
// By threshold, a compaction that frees less than this share of the window would be
// asked for again at once.
const MIN_THRESHOLD_SHARE = 0.05;
const MAX_MIN_THRESHOLD = 4096;
const MANUAL_KEEP_SHARE = 0.25;
const FORCED_KEEP_SHARE = 0.5;

/** `count`: other numbers than the estimator's, to compare with a host that counts otherwise. */
export function planCompaction(input: PlanInput, count?: CountTokens): CompactionPlan {
  return stepsAtOnce(compactionSteps(input, count));
}

/** The same plan in steps, for a session that takes long. */
export function* compactionSteps(
  input: PlanInput,
  count: CountTokens = estimateMessage,
): Steps<CompactionPlan> {
  const { branch, options, contextWindow, fixedTokens = 0 } = input;
  const { items } = yield* contextSteps(branch);
  const stored = yield* sizeSteps(
    items.map(({ message }) => message),
    count,
  );
  const { messages } = stored;
  const shown = yield* shownSteps(messages, contextWindow, count);
  const tokensBefore = shown.total.estimate;
  const perEstimate = countedPerEstimate(input, tokensBefore);
  const size = { tokensBefore, perEstimate };
  const nothing = (code: CompactCode, reason: string) => nothingPlan(code, reason, size);
  if (!messages.some(isConversation))
    return nothing("no-conversation", "no real conversation messages");
  if (branch.at(-1)?.type === "reset")
    return nothing("nothing-to-compact", "the session was just reset");

  const limits = planLimits({
    ...input,
    reserveTokens: options.reserveTokensFloor,
    fixedTokens,
    newestTokens: newestTokensOf(shown.messages),
    water: options,
  });
  const low = (message: AgentMessage) => count(message).low;
  const prune = options.prune
    ? yield* pruneSteps({ items, options, reader: input.reader, count: low })
    : undefined;
  const view =
    prune === undefined ? shown : yield* shownSteps(prune.messages, contextWindow, count);
  const pruned: PrunePlan | undefined = prune && {
    ...{ kind: "prune", prune, ...size, tokensAfter: view.total.estimate },
    firstKeptEntryId: items[0]!.entryId,
  };
  if (pruned !== undefined && isPruneEnough(input, { ...pruned, stored, view, limits }))
    return pruned;
  // Nothing can be written that makes room for these; a prune may still help the next request.
  if (limits.promptBudget <= fixedTokens && pruned === undefined)
    return nothing(
      "no-room",
      `the system prompt and tools take ${fixedTokens} of ${limits.promptBudget} tokens; choose a model with a larger window`,
    );

  const plan = yield* summarySteps(input, { items, view, ...size, limits, prune });
  return plan.kind === "nothing" ? (pruned ?? plan) : plan;
}

const nothingPlan = (code: CompactCode, reason: string, size: PlannedSize): NothingPlan => ({
  kind: "nothing",
  ok: code !== "no-room",
  code,
  reason,
  ...size,
});

interface Material extends PlannedSize {
  items: readonly ContextItem[];
  /** Their messages, less what is cleared. */
  view: Sized;
  limits: CompactionLimits;
  prune: PruneStep | undefined;
}

/** The summary, or why there is nothing to summarise. */
function* summarySteps(input: PlanInput, material: Material): Steps<SummaryPlan | NothingPlan> {
  const { branch, trigger } = input;
  const { items, view, limits, prune, tokensBefore, perEstimate } = material;
  const size = { tokensBefore, perEstimate };
  const nothing = (why: string) => nothingPlan("nothing-to-compact", why, size);
  const told = (tokens: number) => toldTokens(size, tokens).toLocaleString("en-US");
  const tokens = view.tokens.map(({ estimate }) => estimate);
  const boundary = branch.findLastIndex(({ type }) => type === "compaction" || type === "reset");
  const previous =
    branch[boundary]?.type === "compaction" ? (branch[boundary] as CompactionEntry) : undefined;
  const start = previous === undefined ? 0 : 1;
  const openRequest = openRequestOf(branch);
  const openAt =
    openRequest === undefined
      ? -1
      : items.findIndex(({ entryId }) => entryId === openRequest.entryId);

  const scale = scaleOf(input, perEstimate);
  const all = scale * view.total.estimate;
  const isLong = previous !== undefined && isTooLong(previous.summary, limits, scale);
  const cut = findCut({
    messages: view.messages,
    groups: yield* atomicGroupSteps(view.messages),
    start,
    tokens,
    highTokens: view.tokens.map(({ high }) => high),
    // In a small window the tail's limit is below what is usually kept.
    keepTokens: Math.floor(Math.min(keepTokens(input, limits, all), limits.tailTokens) / scale),
    maxTailTokens: Math.floor(limits.tailTokens / scale),
    preferKeptFrom: openAt < 0 ? undefined : openAt,
    maxReplyTokens: Math.floor(limits.replyTokens / scale),
  });
  // Then there is something to make smaller, although every message stays.
  const found = cut ?? (isLong ? { cut: start, turnStart: start } : undefined);
  if (found === undefined) return nothing("what is kept anyway is all there is");
  const summarisedTokens = sum(tokens.slice(start, found.cut));
  if (summarisedTokens < MIN_SUMMARISED_TOKENS && !isLong)
    return nothing(`only ${told(summarisedTokens)} tokens could be summarised`);
  const least = Math.min(MAX_MIN_THRESHOLD, Math.floor(limits.contextWindow * MIN_THRESHOLD_SHARE));
  if (trigger === "threshold" && summarisedTokens < least && !isLong)
    return nothing(
      `summarising ${told(summarisedTokens)} tokens would not pay before ${told(least)}`,
    );

  yield;
  const keptItem = items[found.cut];
  const keptFrom =
    keptItem === undefined ? branch.length : firstKeptIndex(branch, boundary, keptItem.entryId);
  const written = yield* originals(branch, items, { start, ...found });
  const openRequestCut = openRequest !== undefined && openAt < found.cut;
  const tokenRatio = input.tokenRatio ?? 1;
  const keptTokens = sum(tokens.slice(found.cut));
  yield;
  const requestTokens = openRequestCut
    ? estimateText(requestTextOf(openRequest.message)).estimate
    : 0;
  const recordRoom = recordRoomFor({
    limit: limits.recordRoom,
    summarisedTokens,
    previousTokens: recordTokensOf(previous?.summary),
  });
  return {
    kind: "summarise",
    limits,
    tokenRatio,
    ...size,
    prune,
    ...written,
    files: yield* fileOperationSteps([...written.history, ...written.prefix]),
    previous,
    firstKeptEntryId: branch[keptFrom]?.id,
    kept: view.messages.slice(found.cut),
    keptTokens,
    summarisedTokens,
    openRequest,
    openRequestCut,
    covered: branch.slice(0, keptFrom),
    reader: input.reader,
    recordRoom: roomBesideRequest(recordRoom, { limits, keptTokens, tokenRatio, requestTokens }),
  };
}

/**
 * At the threshold a prune is enough where it gets half way down to the low mark: it leaves no
 * names of what it clears, and must not be asked for again at once. Else what is left must be below
 * 80 % of the window; a person's focus always gets its summary (spec §1.4).
 */
function isPruneEnough(
  input: PlanInput,
  {
    prune,
    stored,
    view,
    limits,
    perEstimate,
  }: Pick<Material, "view" | "limits" | "perEstimate"> & { prune: PruneStep; stored: Sized },
): boolean {
  const { trigger, focus, currentTokenCount, fixedTokens = 0 } = input;
  const { low, high } = limits.water;
  if (trigger === "threshold")
    return scaleOf(input, perEstimate) * view.total.estimate <= (low + high) / 2;
  const { enough } = decidePruneEnough({
    plan: { clear: prune.entryIds.map((_, index) => index), freed: prune.freedTokens },
    tokensBefore: stored.total.high,
    fixedTokens,
    observedTokens: positive(currentTokenCount) ?? 0,
    contextWindow: limits.contextWindow,
    hasFocus: trigger === "manual" && (focus ?? "").trim() !== "",
  });
  return enough;
}

/**
 * A person who asks, or an overflow, must be served although the session is smaller
 * than what is usually kept.
 */
function keepTokens(
  { options, trigger }: PlanInput,
  limits: CompactionLimits,
  all: number,
): number {
  const usual = Math.min(options.keepRecentTokens ?? limits.keepTokens, limits.keepTokens);
  if (trigger === "threshold") return usual;
  return Math.min(
    usual,
    Math.floor(all * (trigger === "manual" ? MANUAL_KEEP_SHARE : FORCED_KEEP_SHARE)),
  );
}

/** The messages as they were written, also where the context shows a placeholder. */
function* originals(
  branch: readonly TranscriptEntry[],
  items: readonly ContextItem[],
  { start, turnStart, cut }: { start: number; turnStart: number; cut: number },
): Steps<Pick<SummaryPlan, "history" | "prefix">> {
  const wanted = new Set(items.slice(start, cut).map(({ entryId }) => entryId));
  yield;
  const context = yield* contextSteps(branch.filter(({ id }) => wanted.has(id)));
  const written = context.items.map(({ message }) => message);
  return { history: written.slice(0, turnStart - start), prefix: written.slice(turnStart - start) };
}

/**
 * Settings and labels right before the kept message stay with it. Throws when the entry is not on
 * the branch after its last boundary.
 */
function firstKeptIndex(
  branch: readonly TranscriptEntry[],
  boundary: number,
  entryId: string,
): number {
  let index = branch.findIndex(({ id }) => id === entryId);
  if (index < 0)
    throw new Error(
      `The first kept entry ${entryId} is not on the active branch; this is a bug in planCompaction.`,
    );
  while (index - 1 > boundary && !holdsMessage(branch[index - 1]!)) index--;
  return index;
}

const holdsMessage = ({ type }: TranscriptEntry) =>
  type === "message" || type === "custom_message" || type === "branch_summary";

/** Something a person or a model said, or a call it made. */
function isConversation(message: AgentMessage): boolean {
  if (message.role === "toolResult" || message.role === "custom") return false;
  if (message.role !== "assistant") return textOf(message).trim() !== "";
  return (
    textOf(message).trim() !== "" ||
    blocksOf(message.content).some(({ type }) => type === "toolCall")
  );
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const positive = (value: number | undefined) =>
  value !== undefined && Number.isFinite(value) && value > 0 ? value : undefined;
