// What a compaction is asked for, from whoever asks to whoever plans it.
import type { CompactParams } from "./contract/lifecycle.ts";

/**
 * What can ask for a compaction: a person · the threshold · a request that the host holds back as
 * too large · a request that the provider refused as too large · a model that timed out.
 */
export const COMPACTION_TRIGGERS = [
  "manual",
  "threshold",
  "budget",
  "overflow",
  "timeout_recovery",
] as const;

/** One of these five words. */
export type CompactionTrigger = (typeof COMPACTION_TRIGGERS)[number];

/** One value for host, port and built-in compaction; engines get the same as `CompactParams`. */
export interface CompactionAsk {
  /** What asked for it; decides how much of the newest history is kept. */
  trigger: CompactionTrigger;
  /**
   * A person's wish what to keep; with "manual" it asks for a summary even where a prune would do.
   * Absent: none.
   */
  focus?: string | undefined;
  /** Tokens a prompt may hold. Absent: by the session model's window. */
  tokenBudget?: number | undefined;
  /** Tokens counted for the whole request as it is now. Absent: estimated. */
  currentTokenCount?: number | undefined;
}

/**
 * What the parameters of `compact` ask for. A host that names no trigger is understood by what it
 * says besides: a person's wish is "manual", `force` is "budget", anything else the threshold.
 */
export function compactionAskOf(params: CompactParams): CompactionAsk {
  const { customInstructions, tokenBudget, currentTokenCount, runtimeContext } = params;
  const named = COMPACTION_TRIGGERS.find((trigger) => trigger === runtimeContext?.trigger);
  const byWord = runtimeContext?.manualCompaction === true ? "manual" : undefined;
  return {
    trigger: named ?? byWord ?? (params.force === true ? "budget" : "threshold"),
    focus: customInstructions,
    tokenBudget,
    currentTokenCount,
  };
}
