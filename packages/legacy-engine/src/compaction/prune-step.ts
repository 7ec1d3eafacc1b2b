// Which old tool results a compaction clears, and the record that makes it durable.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { Steps } from "@clew/plugin-sdk/host";
import {
  ALWAYS_PROTECTED_TOOLS,
  applyPrune,
  type ContextItem,
  type NewTranscriptEntry,
  type PrunePlan,
  planPruneSteps,
  pruneEntry,
  prunePlaceholderWith,
  pruneRecordOf,
  supersededResults,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import type { CompactionOptions } from "./options.ts";

export interface PruneStep {
  /** Entries whose output is cleared, oldest first. */
  entryIds: readonly string[];
  /** Tokens; with the estimator a lower bound. */
  freedTokens: number;
  /** The context as it reads afterwards. */
  messages: readonly AgentMessage[];
  /** What is appended to the transcript. */
  record: NewTranscriptEntry;
}

/**
 * The reason in the record of a prune that a compaction made; a host's own pruning gives another.
 */
const REASON = "compaction";

/** Undefined when nothing is worth clearing (spec "compaction" §1). */
export function* pruneSteps({
  items,
  options,
  reader,
  count,
}: {
  items: readonly ContextItem[];
  options: CompactionOptions;
  /** The tool that shows a cleared result; undefined = there is none. */
  reader: string | undefined;
  /** Least tokens of a message. */
  count: (message: AgentMessage) => number;
}): Steps<PruneStep | undefined> {
  const { pruneProtectTokens, pruneMinimumTokens, pruneProtectedTools } = options;
  const messages = items.map(({ message }) => message);
  const settings = {
    protectTokens: pruneProtectTokens,
    minimumTokens: pruneMinimumTokens,
    protectedTools: pruneProtectedTools,
    ...(reader !== undefined && { placeholder: prunePlaceholderWith(reader) }),
  };
  const required = yield* planPruneSteps(messages, settings, count);
  const plan = options.agentPrune ? withSuperseded(messages, required, settings, count) : required;
  if (plan.clear.length === 0) return undefined;
  yield;
  return {
    entryIds: plan.clear.map((index) => items[index]!.entryId),
    freedTokens: plan.freed,
    messages: applyPrune(messages, plan),
    record: pruneEntry(items, plan, REASON),
  };
}

/** The same plan with what later results replace, under the same rules of what is spared. */
function withSuperseded(
  messages: readonly AgentMessage[],
  plan: PrunePlan,
  { minimumTokens, protectedTools }: { minimumTokens: number; protectedTools: readonly string[] },
  count: (message: AgentMessage) => number,
): PrunePlan {
  const cleared = new Set(plan.clear);
  const old = supersededResults(messages).filter((index) => !cleared.has(index));
  const view = applyPrune(messages, { clear: old, placeholder: plan.placeholder });
  const saved = (index: number) => count(messages[index]!) - count(view[index]!);
  const worth = old.filter(
    (index) => saved(index) > 0 && !isProtected(messages[index]!, protectedTools),
  );
  const freed = plan.freed + worth.reduce((sum, index) => sum + saved(index), 0);
  if (freed < minimumTokens) return plan;
  return { ...plan, clear: [...plan.clear, ...worth].sort((left, right) => left - right), freed };
}

const isProtected = (message: AgentMessage, protectedTools: readonly string[]) =>
  message.role !== "toolResult" ||
  message.pruneProtect === true ||
  message.prunedAt !== undefined ||
  [...ALWAYS_PROTECTED_TOOLS, ...protectedTools].includes(message.toolName ?? "");

/** True for the record of a prune that a compaction made, alone or before its summary. */
export const isCompactionPrune = (entry: TranscriptEntry | undefined): boolean =>
  pruneRecordOf(entry)?.reason === REASON;
