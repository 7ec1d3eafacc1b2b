// Which old tool results a compaction clears, and the record that makes it durable.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import {
  applyPrune,
  type ContextItem,
  type NewTranscriptEntry,
  planPrune,
  pruneEntry,
  pruneRecordOf,
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
export function planPruneStep({
  items,
  options,
  count,
}: {
  items: readonly ContextItem[];
  options: CompactionOptions;
  /** Least tokens of a message. */
  count: (message: AgentMessage) => number;
}): PruneStep | undefined {
  const { pruneProtectTokens, pruneMinimumTokens, pruneProtectedTools } = options;
  const messages = items.map(({ message }) => message);
  const settings = {
    protectTokens: pruneProtectTokens,
    minimumTokens: pruneMinimumTokens,
    protectedTools: pruneProtectedTools,
  };
  const plan = planPrune(messages, settings, count);
  if (plan.clear.length === 0) return undefined;
  return {
    entryIds: plan.clear.map((index) => items[index]!.entryId),
    freedTokens: plan.freed,
    messages: applyPrune(messages, plan),
    record: pruneEntry(items, plan, REASON),
  };
}

/** True for the record of a prune that a compaction made. */
export const isCompactionPrune = (entry: TranscriptEntry | undefined): boolean =>
  pruneRecordOf(entry)?.reason === REASON;
