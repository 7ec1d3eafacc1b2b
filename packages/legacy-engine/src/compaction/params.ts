// Reads a compaction request from the parameters of a `compact` call.
import type { CompactParams } from "@clew/plugin-sdk/core";
import type { CompactionTrigger } from "./plan.ts";
import type { CompactTranscriptRequest } from "./run.ts";

const TRIGGERS: readonly CompactionTrigger[] = [
  "manual",
  "threshold",
  "budget",
  "overflow",
  "timeout_recovery",
];

/**
 * Reads a request out of the parameters with which an engine or a host calls
 * the built-in compaction.
 */
export function compactionParams(
  params: CompactParams,
): Pick<
  CompactTranscriptRequest,
  "trigger" | "focus" | "tokenBudget" | "currentTokenCount" | "signal"
> {
  const { customInstructions, tokenBudget, currentTokenCount, abortSignal, runtimeContext } =
    params;
  const named = TRIGGERS.find((trigger) => trigger === runtimeContext?.trigger);
  const trigger =
    named ??
    (runtimeContext?.manualCompaction === true
      ? "manual"
      : params.force === true
        ? "budget"
        : "threshold");
  return {
    trigger,
    focus: customInstructions,
    tokenBudget,
    currentTokenCount,
    signal: abortSignal,
  };
}
