// The built-in context engine and the host's built-in compaction; exports only.
export {
  type AuditInput,
  type AuditProblem,
  auditSummary,
  identifiersToKeep,
} from "./compaction/audit.ts";
export {
  CHUNKS,
  type CountMessage,
  chunkMessagesByMaxTokens,
  computeAdaptiveChunkRatio,
  isOversized,
  maxChunkTokens,
  splitMessagesByTokenShare,
} from "./compaction/chunks.ts";
export type { CompactionDetails, SummariserUsage } from "./compaction/details.ts";
export {
  type CompactionLimits,
  LIMITS,
  type LimitsInput,
  planLimits,
  reserveTokens,
} from "./compaction/limits.ts";
export {
  type CompactionOptions,
  CompactionOptionsSchema,
  compactionOptions,
  KEYS_WITHOUT_EFFECT,
  keysWithoutEffect,
} from "./compaction/options.ts";
export { compactionParams } from "./compaction/params.ts";
export {
  type CompactionPlan,
  type CompactionTrigger,
  type NothingPlan,
  type PlanInput,
  type PrunePlan,
  planCompaction,
  type SummaryPlan,
} from "./compaction/plan.ts";
export type { CompactionPreview } from "./compaction/preview.ts";
export type { PruneStep } from "./compaction/prune-step.ts";
export { RETRY, type RequestEnvironment, type SummaryModel } from "./compaction/request.ts";
export {
  type CompactionTranscript,
  type CompactTranscriptRequest,
  compactTranscript,
  NOTHING_KEPT_RECORD,
  PRUNE_ONLY_SUMMARY,
  previewCompaction,
} from "./compaction/run.ts";
export {
  type SummarizeRequest,
  type SummaryResult,
  type SummaryTier,
  summarizeInStages,
  summarizeWithFallback,
} from "./compaction/summarize.ts";
export {
  learnRatio,
  RATIO_BOUNDS,
  type RatioSample,
  type TokenRatio,
  UNKNOWN_RATIO,
} from "./compaction/token-ratio.ts";
export {
  planUndoCompaction,
  UNDO_RECORD,
  type UndoCode,
  type UndoInput,
  type UndoPlan,
  type UndoResult,
  type UndoTranscript,
  undoCompaction,
} from "./compaction/undo.ts";
export { createLegacyEngine } from "./engine.ts";
