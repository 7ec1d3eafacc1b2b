// What a compaction entry keeps beside its summary.
import type { Usage } from "@clew/plugin-sdk/core";
import type { CompactionTrigger } from "@clew/plugin-sdk/host";
import { requestTextOf } from "@clew/plugin-sdk/transcript";
import { coveredFiles } from "./facts.ts";
import type { SummaryPlan } from "./plan.ts";
import { headAndTail, SECTION_LIMITS } from "./sections.ts";
import type { WrittenSummary } from "./write-summary.ts";

/** What a compaction entry keeps in `details`, beside what other hosts read there. */
export interface CompactionDetails {
  v: 1;
  trigger: CompactionTrigger;
  /** How the summary came about. */
  tier: WrittenSummary["tier"];
  /** Why it is not the model's summary of everything. */
  reason?: string;
  /** The check missed something and code added it. */
  amended: boolean;
  readFiles: string[];
  modifiedFiles: string[];
  openRequestEntryId?: string;
  /** At most 800 characters. */
  latestUnresolvedUserRequest?: string;
  /** The entry before this one is a prune of the same compaction. */
  withPrune: boolean;
  summariser: SummariserUsage;
}

/** What the summaries of one compaction cost, as far as the provider said. */
export interface SummariserUsage {
  requests: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export function detailsOf(
  trigger: CompactionTrigger,
  plan: SummaryPlan,
  written: WrittenSummary,
  withPrune: boolean,
  summariser: SummariserUsage,
): CompactionDetails {
  const { openRequest } = plan;
  return {
    v: 1,
    trigger,
    tier: written.tier,
    ...(written.reason !== undefined && { reason: written.reason }),
    amended: written.amended,
    ...coveredFiles(plan),
    ...(openRequest !== undefined && {
      openRequestEntryId: openRequest.entryId,
      latestUnresolvedUserRequest: headAndTail(
        requestTextOf(openRequest.message),
        SECTION_LIMITS.openRequest,
      ),
    }),
    withPrune,
    summariser,
  };
}

/** Adds up what the requests of one compaction were billed. */
export function usageSum(): {
  add: (usage: Usage | undefined) => void;
  total: () => SummariserUsage;
} {
  let sum: SummariserUsage = { requests: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  return {
    add(usage) {
      sum = {
        requests: sum.requests + 1,
        input: sum.input + (usage?.input ?? 0),
        output: sum.output + (usage?.output ?? 0),
        cacheRead: sum.cacheRead + (usage?.cacheRead ?? 0),
        cacheWrite: sum.cacheWrite + (usage?.cacheWrite ?? 0),
      };
    },
    total: () => sum,
  };
}
