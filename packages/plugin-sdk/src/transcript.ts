// Exports the algebra of transcripts, from session files to summaries.

export { type AnyBlock, blocksOf } from "./messages/blocks.ts";
export { type ModelMessage, toModelMessage } from "./messages/model-view.ts";
export { joinRecord, type SessionRecord, splitRecord } from "./messages/record-text.ts";
export { escapeTags } from "./messages/wrap-record.ts";
export { type BulkCut, type BulkCutOptions, planBulkCut } from "./record/bulk-cut.ts";
export {
  type LedgerCheckpoint,
  restoreLedger,
  restoreSteps,
  saveLedger,
} from "./record/checkpoint.ts";
export type { Force } from "./record/cues.ts";
export { isData } from "./record/data-text.ts";
export {
  type ExtractiveSummaryOptions,
  extractiveSummary,
  SUMMARY_HEADINGS,
} from "./record/extractive-summary.ts";
export { foldLedger, foldLedgerInSlices } from "./record/ledger.ts";
export { pathsInLedger } from "./record/ledger-paths.ts";
export { type LedgerText, renderLedger } from "./record/ledger-text.ts";
export { type Name, type NameKind, namesIn } from "./record/names.ts";
export type { Passage } from "./record/passages.ts";
export type { Pin } from "./record/pins.ts";
export {
  type RecordOptions,
  type RecordParts,
  recordSteps,
  renderRecord,
} from "./record/render.ts";
export { ledgerRoomOf, type RecordRoom, recordRoomOf, withinTokens } from "./record/room.ts";
export {
  EMPTY_LEDGER,
  type Expected,
  type LedgerItem,
  type LedgerKind,
  type LedgerState,
} from "./record/state.ts";
export { activeBranch } from "./transcript/branch.ts";
export { buildContext, contextSteps, type TranscriptContext } from "./transcript/context.ts";
export type { ContextItem } from "./transcript/context-item.ts";
export {
  type BranchSummaryEntry,
  type CompactionEntry,
  type CustomEntry,
  type CustomMessageEntry,
  type LabelEntry,
  type MessageEntry,
  type ModelChangeEntry,
  type NewTranscriptEntry,
  ORIGIN,
  type ResetEntry,
  ROLE,
  roleIn,
  type SessionInfoEntry,
  type ThinkingLevelChangeEntry,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
  type TranscriptHeader,
} from "./transcript/entries.ts";
export { type FreshTail, type FreshTailOptions, freshTail } from "./transcript/fresh-tail.ts";
export { withMessageId } from "./transcript/message-id.ts";
export { type NewestThatFit, newestThatFit } from "./transcript/newest-that-fit.ts";
export { type OpenRequest, openRequest } from "./transcript/open-request.ts";
export {
  type EntryPlace,
  originSteps,
  originsOf,
  placeEntry,
  withOrigin,
} from "./transcript/origin.ts";
export {
  type BadLine,
  createTranscriptReader,
  type ParsedLine,
  type ParsedTranscript,
  parseTranscript,
  parseTranscriptLine,
  type TranscriptReader,
} from "./transcript/parse.ts";
export {
  ALWAYS_PROTECTED_TOOLS,
  applyPrune,
  decidePruneEnough,
  PRUNE_PLACEHOLDER,
  type PruneEnoughInput,
  type PruneOptions,
  type PrunePlan,
  planPrune,
  planPruneSteps,
  prunePlaceholderWith,
} from "./transcript/prune.ts";
export {
  PRUNE_ENTRY_TYPE,
  type PruneRecord,
  pruneEntry,
  pruneRecordOf,
} from "./transcript/prune-records.ts";
export { moveReferences } from "./transcript/references.ts";
export {
  applySessionPrune,
  type SessionProjection,
  sessionProjections,
  sessionPruneEntry,
} from "./transcript/session-projection.ts";
export {
  DEFAULT_SESSION_PRUNE,
  parsePruneTtl,
  planSessionPrune,
  type SessionPruneInput,
  type SessionPrunePlan,
  type SessionPruneSettings,
} from "./transcript/session-prune.ts";
export {
  type OtherSession,
  otherSessionOf,
  quotedTextOf,
  requestTextOf,
  speakerOf,
} from "./transcript/speaker.ts";
export { supersededResults } from "./transcript/superseded.ts";
export { headOf, tailOf, textOf } from "./transcript/text.ts";
export {
  type FileOperations,
  fileOperationSteps,
  fileOperations,
} from "./transcript/tool-facts.ts";
export {
  atomicGroupSteps,
  atomicGroups,
  isSafeCut,
  pairToolCalls,
  type ToolCallPlace,
  type ToolPair,
  type ToolPairing,
} from "./transcript/tool-pairs.ts";
export {
  capToolResultSteps,
  capToolResults,
  toolResultLength,
} from "./transcript/tool-result-caps.ts";
export { isUserTurn, type MessageRange, splitTurns } from "./transcript/turns.ts";
