// Says what a compaction would keep, drop and cost, without running it.
import type { CompactCode } from "@clew/plugin-sdk/core";
import { estimateText } from "@clew/plugin-sdk/tokens";
import {
  chunkMessagesByMaxTokens,
  computeAdaptiveChunkRatio,
  maxChunkTokens,
  total,
} from "./chunks.ts";
import { pinnedText } from "./facts.ts";
import type { CompactionPlan, SummaryPlan } from "./plan.ts";
import { requestRoomFor } from "./record-room.ts";
import { countedTokens } from "./serialize.ts";
import { toldSizes, toldTokens } from "./told-size.ts";

/**
 * For people and `--dry-run`. Tokens of the context are those that the session's model counts, as
 * far as that is known; so are those of requests.
 */
export type CompactionPreview =
  | { kind: "nothing"; code: CompactCode; reason: string; tokensBefore: number }
  | {
      kind: "prune";
      tokensBefore: number;
      tokensAfter: number;
      clearedResults: number;
      clearedEntryIds: readonly string[];
    }
  | {
      kind: "summarise";
      /** Held back for the reply, and what that leaves for a prompt. */
      reserve: number;
      promptBudget: number;
      tokensBefore: number;
      /** With the longest record and summary allowed; usually less. */
      tokensAfterAtMost: number;
      /** Of these, what a model's summary may take; 0 = none is asked. */
      summaryTokensAtMost: number;
      /** Null: nothing is kept. */
      firstKeptEntryId: string | null;
      keptMessages: number;
      keptTokens: number;
      summarisedMessages: number;
      summarisedTokens: number;
      /** Files whose contents leave the view: read or changed in what is summarised; sorted. */
      files: readonly string[];
      /** A turn is cut in two; its beginning is summarised with what is older. */
      splitsTurn: boolean;
      /** The open request is repeated, word for word, above the summary. */
      repeatsOpenRequest: boolean;
      clearedResults: number;
      /**
       * Requests to the summarising model if none has to be repeated, and what they send and may
       * answer; 0 = no model is asked. If it does not answer the first, code writes the summary.
       */
      requests: number;
      /** Why the summarising model is not asked now; null = it is, or there is none. */
      notAsked: string | null;
      /** As the model counts, with what an answer adds to the request behind it; at most. */
      inputTokens: number;
      outputTokensAtMost: number;
    };

/** Who would summarise. */
export interface PlannedSummariser {
  /** Tokens; null = no model does. */
  window: number | null;
  /** See `notAsked`. */
  notAsked?: string | undefined;
}

export function describePlan(
  plan: CompactionPlan,
  summariser: PlannedSummariser,
): CompactionPreview {
  switch (plan.kind) {
    case "nothing":
      return {
        kind: "nothing",
        code: plan.code,
        reason: plan.reason,
        tokensBefore: toldTokens(plan, plan.tokensBefore),
      };
    case "prune": {
      const { entryIds } = plan.prune;
      return {
        kind: "prune",
        ...toldSizes(plan, plan.tokensAfter),
        clearedResults: entryIds.length,
        clearedEntryIds: entryIds,
      };
    }
    case "summarise":
      return describeSummary(plan, summariser);
  }
}

function describeSummary(
  plan: SummaryPlan,
  { window, notAsked }: PlannedSummariser,
): CompactionPreview {
  const { history, prefix, limits } = plan;
  const count = countedTokens(plan);
  const requests = (messages: typeof history) => {
    if (messages.length === 0 || window === null || notAsked !== undefined) return 0;
    const most = maxChunkTokens(window, computeAdaptiveChunkRatio(messages, window, count));
    const chunks = chunkMessagesByMaxTokens(messages, most, count).length;
    return chunks > 1 && total(messages, count) > most ? chunks + 1 : 1;
  };
  const summarised = [...history, ...prefix];
  const asked = requests(summarised);
  const prose = asked === 0 ? 0 : Math.ceil(limits.summaryChars / 3);
  const { tokensBefore, tokensAfter } = toldSizes(
    plan,
    plan.keptTokens + recordTokens(plan) + prose,
  );
  return {
    kind: "summarise",
    reserve: limits.reserve,
    promptBudget: limits.promptBudget,
    tokensBefore,
    tokensAfterAtMost: tokensAfter,
    summaryTokensAtMost: toldTokens(plan, prose),
    firstKeptEntryId: plan.firstKeptEntryId ?? null,
    keptMessages: plan.kept.length,
    keptTokens: toldTokens(plan, plan.keptTokens),
    summarisedMessages: summarised.length,
    summarisedTokens: toldTokens(plan, plan.summarisedTokens),
    files: [...plan.files.readFiles, ...plan.files.modifiedFiles].sort(),
    splitsTurn: prefix.length > 0,
    repeatsOpenRequest: plan.openRequestCut,
    clearedResults: plan.prune?.entryIds.length ?? 0,
    requests: asked,
    notAsked: window === null ? null : (notAsked ?? null),
    inputTokens:
      asked === 0
        ? 0
        : total(summarised, count) +
          Math.ceil(Math.max(1, plan.tokenRatio) * (REQUEST_TOKENS * asked + prose * (asked - 1))),
    outputTokensAtMost: asked * limits.summaryTokens,
  };
}

/** The longest record beside a summary, with the open request where it is repeated there. */
function recordTokens(plan: SummaryPlan): number {
  const { recordRoom, openRequest, openRequestCut } = plan;
  const { ledger, anchors, pins } = recordRoom;
  const pinned =
    openRequestCut && openRequest !== undefined
      ? estimateText(pinnedText(openRequest, requestRoomFor(plan))).high
      : 0;
  return ledger + anchors + pins + pinned;
}

/** About what a request says besides its conversation. */
const REQUEST_TOKENS = 500;
