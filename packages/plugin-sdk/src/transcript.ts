// The algebra of transcripts: entries, branches, contexts, turns, tool pairs, text; all pure.
export { activeBranch, branchBefore } from "./transcript/branch.ts";
export { buildContext, type ContextItem, type TranscriptContext } from "./transcript/context.ts";
export {
  type BranchSummaryEntry,
  type CompactionEntry,
  type CustomEntry,
  type CustomMessageEntry,
  type LabelEntry,
  type MessageEntry,
  type ModelChangeEntry,
  type NewTranscriptEntry,
  type ResetEntry,
  type SessionInfoEntry,
  type ThinkingLevelChangeEntry,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
  TranscriptEntrySchema,
  type TranscriptHeader,
  TranscriptHeaderSchema,
} from "./transcript/entries.ts";
export { type ModelMessage, toModelMessage } from "./transcript/model-view.ts";
