// Decides whether clearing old tool output is enough, and else what to summarise.
import type { AgentMessage, CompactCode } from "@clew/plugin-sdk/core";
import { type CompactionAsk, newestTokensOf } from "@clew/plugin-sdk/host";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import {
  blocksOf,
  buildContext,
  type CompactionEntry,
  type ContextItem,
  capToolResults,
  decidePruneEnough,
  type OpenRequest,
  openRequest as openRequestOf,
  type RecordRoom,
  type TranscriptEntry,
  textOf,
} from "@clew/plugin-sdk/transcript";
import { findCut } from "./cut.ts";
import { type CompactionLimits, LIMITS, planLimits } from "./limits.ts";
import type { CompactionOptions } from "./options.ts";
import { type PruneStep, planPruneStep } from "./prune-step.ts";
import { recordRoomFor, recordTokensOf } from "./record-room.ts";

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
}

export type CompactionPlan = NothingPlan | PrunePlan | SummaryPlan;

export interface NothingPlan {
  kind: "nothing";
  /** False: a compaction was needed and cannot be made. */
  ok: boolean;
  code: CompactCode;
  reason: string;
  tokensBefore: number;
}

export interface PrunePlan {
  kind: "prune";
  prune: PruneStep;
  tokensBefore: number;
  firstKeptEntryId: string;
}

export interface SummaryPlan {
  kind: "summarise";
  limits: CompactionLimits;
  tokensBefore: number;
  /** Cleared besides; undefined when nothing qualifies. */
  prune: PruneStep | undefined;
  /** The originals, whatever was cleared. */
  history: AgentMessage[];
  /** Beginning of a turn whose end is kept. */
  prefix: AgentMessage[];
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
}

// A summary has headings of its own: what is smaller than this cannot be made smaller by one.
const MIN_SUMMARISED_TOKENS = 200;
// By threshold, a compaction that frees less than this share of the window would be
// asked for again at once.
const MIN_THRESHOLD_SHARE = 0.05;
const MAX_MIN_THRESHOLD = 4096;
const MAX_SCALE = 4;
// In a small window the tail's limit, an upper bound, is below what is
// usually kept, a middle value.
const LOW_SHARE = 0.8;
const MANUAL_KEEP_SHARE = 0.25;
const FORCED_KEEP_SHARE = 0.5;

/** How many tokens a message has, and how few or many it may have. */
export interface MessageCounts {
  low(message: AgentMessage): number;
  estimate(message: AgentMessage): number;
  high(message: AgentMessage): number;
}

/** The estimator's numbers. */
export const BY_ESTIMATE: MessageCounts = {
  low: (message) => estimateMessage(message).low,
  estimate: (message) => estimateMessage(message).estimate,
  high: (message) => estimateMessage(message).high,
};

/** `counts`: other numbers than the estimator's, to compare with a host that counts otherwise. */
export function planCompaction(input: PlanInput, counts = BY_ESTIMATE): CompactionPlan {
  const { branch, options, fixedTokens = 0 } = input;
  const { items } = buildContext(branch);
  const messages = items.map(({ message }) => message);
  const tokens = messages.map(counts.estimate);
  const tokensBefore = sum(tokens);
  const nothing = (code: CompactCode, reason: string) => nothingPlan(code, reason, tokensBefore);
  if (!messages.some(isConversation))
    return nothing("no-conversation", "no real conversation messages");
  if (branch.at(-1)?.type === "reset")
    return nothing("nothing-to-compact", "nothing to compact: the session was just reset");

  const shown = shownIn(input, messages);
  const limits = planLimits({
    ...input,
    reserveTokens: options.reserveTokensFloor,
    fixedTokens,
    newestTokens: newestTokensOf(shown),
    water: options,
  });
  const prune = options.prune ? planPruneStep({ items, options, count: counts.low }) : undefined;
  if (prune !== undefined && isPruneEnough(input, { prune, messages, limits, counts }))
    return { kind: "prune", prune, tokensBefore, firstKeptEntryId: items[0]!.entryId };
  // Nothing can be written that makes room for these; a prune may still help the next request.
  if (limits.promptBudget <= fixedTokens && prune === undefined)
    return nothing(
      "no-room",
      `the system prompt and tools take ${fixedTokens} of ${limits.promptBudget} tokens; choose a model with a larger window`,
    );

  const material = { items, messages, tokens, tokensBefore, limits, prune, counts };
  const plan = planSummary(input, material);
  return plan.kind === "nothing" && prune !== undefined
    ? { kind: "prune", prune, tokensBefore, firstKeptEntryId: items[0]!.entryId }
    : plan;
}

const nothingPlan = (code: CompactCode, reason: string, tokensBefore: number): NothingPlan => ({
  kind: "nothing",
  ok: code !== "no-room",
  code,
  reason,
  tokensBefore,
});

interface Material {
  items: readonly ContextItem[];
  messages: readonly AgentMessage[];
  tokens: readonly number[];
  tokensBefore: number;
  limits: CompactionLimits;
  prune: PruneStep | undefined;
  counts: MessageCounts;
}

/** The summary, or why there is nothing to summarise. */
function planSummary(input: PlanInput, material: Material): SummaryPlan | NothingPlan {
  const { branch, trigger } = input;
  const { items, limits, prune, tokensBefore } = material;
  const nothing = (why: string) =>
    nothingPlan("nothing-to-compact", `nothing to compact: ${why}`, tokensBefore);
  const view = shownIn(input, prune?.messages ?? material.messages);
  const tokens = view.map(material.counts.estimate);
  const boundary = branch.findLastIndex(({ type }) => type === "compaction" || type === "reset");
  const previous =
    branch[boundary]?.type === "compaction" ? (branch[boundary] as CompactionEntry) : undefined;
  const start = previous === undefined ? 0 : 1;
  const openRequest = openRequestOf(branch);
  const openAt =
    openRequest === undefined
      ? -1
      : items.findIndex(({ entryId }) => entryId === openRequest.entryId);

  const scale = scaleOf(
    input,
    sum(shownIn(input, material.messages).map(material.counts.estimate)),
  );
  const found = findCut({
    messages: view,
    start,
    tokens,
    highTokens: view.map(material.counts.high),
    keepTokens: Math.floor(
      Math.min(keepTokens(input, limits, scale * sum(tokens)), LOW_SHARE * limits.tailTokens) /
        scale,
    ),
    maxTailTokens: Math.floor(limits.tailTokens / scale),
    preferKeptFrom: openAt < 0 ? undefined : openAt,
    maxReplyTokens: Math.floor(limits.replyTokens / scale),
  });
  if (found === undefined) return nothing("what is kept anyway is all there is");
  const summarisedTokens = sum(tokens.slice(start, found.cut));
  if (summarisedTokens < MIN_SUMMARISED_TOKENS)
    return nothing(`only ${summarisedTokens} tokens could be summarised`);
  const least = Math.min(MAX_MIN_THRESHOLD, Math.floor(limits.contextWindow * MIN_THRESHOLD_SHARE));
  if (trigger === "threshold" && summarisedTokens < least)
    return nothing(`summarising ${summarisedTokens} tokens would not pay before ${least}`);

  const keptItem = items[found.cut];
  const keptFrom =
    keptItem === undefined ? branch.length : firstKeptIndex(branch, boundary, keptItem.entryId);
  return {
    kind: "summarise",
    limits,
    tokensBefore,
    prune,
    ...originals(branch, items, { start, ...found }),
    previous,
    firstKeptEntryId: branch[keptFrom]?.id,
    kept: capToolResults(view.slice(found.cut), limits.contextWindow),
    keptTokens: sum(tokens.slice(found.cut)),
    summarisedTokens,
    openRequest,
    openRequestCut: openRequest !== undefined && openAt < found.cut,
    covered: branch.slice(0, keptFrom),
    recordRoom: recordRoomFor({
      limit: limits.recordRoom,
      summarisedTokens,
      previousTokens: recordTokensOf(previous?.summary),
    }),
  };
}

/** Long tool results as every request shows them. */
const shownIn = ({ contextWindow }: PlanInput, messages: readonly AgentMessage[]) =>
  capToolResults(messages, contextWindow > 0 ? contextWindow : LIMITS.defaultContextTokens);

/**
 * At the threshold a prune is enough where it gets below the high mark. Else what is left must be
 * below 80 % of the window; a person's focus always gets its summary (spec §1.4).
 */
function isPruneEnough(
  input: PlanInput,
  {
    prune,
    messages,
    limits,
    counts,
  }: Pick<Material, "messages" | "limits" | "counts"> & { prune: PruneStep },
): boolean {
  const { trigger, focus, currentTokenCount, fixedTokens = 0 } = input;
  if (trigger === "threshold") {
    const tokens = (list: readonly AgentMessage[]) =>
      sum(shownIn(input, list).map(counts.estimate));
    return scaleOf(input, tokens(messages)) * tokens(prune.messages) <= limits.water.high;
  }
  const { enough } = decidePruneEnough({
    plan: { clear: prune.entryIds.map((_, index) => index), freed: prune.freedTokens },
    tokensBefore: sum(messages.map(counts.high)),
    fixedTokens,
    observedTokens: positive(currentTokenCount) ?? 0,
    contextWindow: limits.contextWindow,
    hasFocus: trigger === "manual" && (focus ?? "").trim() !== "",
  });
  return enough;
}

/**
 * Tokens as the model counts them / estimated: by the count of this request where that is more,
 * else as the model is known to count.
 */
function scaleOf(
  { currentTokenCount, fixedTokens = 0, tokenRatio = 1 }: PlanInput,
  estimated: number,
): number {
  const observed = (positive(currentTokenCount) ?? 0) / Math.max(1, estimated + fixedTokens);
  return observed > 1 ? Math.min(MAX_SCALE, observed) : tokenRatio;
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
function originals(
  branch: readonly TranscriptEntry[],
  items: readonly ContextItem[],
  { start, turnStart, cut }: { start: number; turnStart: number; cut: number },
) {
  const wanted = new Set(items.slice(start, cut).map(({ entryId }) => entryId));
  const written = buildContext(branch.filter(({ id }) => wanted.has(id))).items.map(
    ({ message }) => message,
  );
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
