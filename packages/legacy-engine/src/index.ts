// Exports the built-in context engine and the host's built-in compaction.
export type {
  CompactionTranscript,
  CompactTranscriptRequest,
} from "./compaction/compact-request.ts";
export {
  type CompactionOptions,
  CompactionOptionsSchema,
  keysWithoutEffect,
  type WaterConflict,
  waterConflicts,
  waterOf,
} from "./compaction/options.ts";
export type { CompactionPreview } from "./compaction/preview.ts";
export { isCompactionPrune } from "./compaction/prune-step.ts";
export type { LedgerKeeper } from "./compaction/record.ts";
export type { SummaryModel } from "./compaction/request.ts";
export { compactTranscript, previewCompaction } from "./compaction/run.ts";
export { createSummariserRest, type SummariserRest } from "./compaction/summariser-rest.ts";
export {
  nextUndo,
  UNDO_RECORD,
  type UndoCode,
  type UndoResult,
  type UndoTarget,
  type UndoTranscript,
  undoCompaction,
} from "./compaction/undo.ts";
export { createLegacyEngine } from "./engine.ts";
