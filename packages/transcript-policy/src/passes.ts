// Every pass by name, as `pnpm run docs` finds them in the folder.
export type { AsyncPass, Clock, Pass, PassResult } from "./pass.ts";
export { stripInboundMetadata } from "./passes/channel-text.ts";
export { toContractShape } from "./passes/contract-shape.ts";
export { tellEmbeddedResults } from "./passes/embedded-results.ts";
export { fitToolCalls } from "./passes/fit-calls.ts";
export { fitText, fitThinking, settleContentForWire, type WireOptions } from "./passes/fit-wire.ts";
export { dropForeignBlocks, dropForeignProofs, type ForeignOptions } from "./passes/foreign.ts";
export type { IdsBefore } from "./passes/ids-before.ts";
export {
  type EmptyReplies,
  type ImageOptions,
  removeBlankContent,
  sanitizeContentBlocksImages,
  sanitizeSessionMessagesImages,
} from "./passes/images.ts";
export {
  annotateInterSessionUserMessages,
  closeInterSessionMessages,
  stripInterSessionPromptPrefixForDisplay,
} from "./passes/inter-session.ts";
export { announceLateResults } from "./passes/late-results.ts";
export { type PairingOptions, sanitizeToolUseResultPairing } from "./passes/pair-tool-results.ts";
export {
  type MessagesPayload,
  type RoutedModel,
  stripPrefillWhenThinking,
  stripRoutedPrefillWhenReasoning,
  stripTrailingAssistants,
} from "./passes/prefill.ts";
export {
  dropTrailingFailures,
  normalizeAssistantReplayContent,
  type ReplayContentOptions,
} from "./passes/replay-content.ts";
export {
  canonicalizeResponsesIds,
  downgradeReasoningItems,
  dropRepeatedItems,
  dropUnbackedItemIds,
} from "./passes/responses.ts";
export {
  stripHistoricalRuntimeContextCustomMessages,
  stripRuntimeContextCustomMessages,
} from "./passes/runtime-context.ts";
export { stripInternalRuntimeContext } from "./passes/runtime-text.ts";
export { isSilentReply } from "./passes/silent-reply.ts";
export {
  dropReasoningFromHistory,
  dropThinkingBlocks,
  sanitizeAntigravityThinkingBlocks,
  stripInvalidThinkingSignatures,
  stripStaleThinkingSignatures,
} from "./passes/thinking.ts";
export {
  isBase64Signature,
  sanitizeThoughtSignatures,
  type ThoughtSignatureOptions,
} from "./passes/thought-signatures.ts";
export { type ToldCallsOptions, tellCallsAsText } from "./passes/told-calls.ts";
export { sanitizeToolCallInputs, type ToolCallOptions } from "./passes/tool-calls.ts";
export { clearStaleUsage, stripToolResultDetails } from "./passes/tool-details.ts";
export { sanitizeToolCallId, sanitizeToolCallIds, type ToolIdOptions } from "./passes/tool-ids.ts";
export {
  bootstrapFirstTurn,
  dropForeignToolResultBlocks,
  validateAnthropicTurns,
  validateGeminiTurns,
} from "./passes/turns.ts";
export { type Reader, readerOf } from "./readers.ts";
export type { StoredBlock, StoredMessage } from "./stored.ts";
export { TEXTS } from "./texts.ts";
export type { Traits } from "./traits.ts";
export { type Fault, type WireRules, wireRules } from "./wires.ts";
