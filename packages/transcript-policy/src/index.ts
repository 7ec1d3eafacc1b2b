// Everything hosts use of the transcript policy; files are in "./session-file", the default image codec in "./sharp".
export {
  projectForDisplay,
  projectMessageForDisplay,
  projectTextForDisplay,
  stripHistoricalRuntimeContextCustomMessages,
  stripRuntimeContextCustomMessages,
} from "./display.ts";
export { type ExplainRequest, explainInvalid, type InvalidMessage } from "./explain.ts";
export {
  type ModelSnapshot,
  type SanitizedHistory,
  type SanitizeRequest,
  sanitizeSessionHistory,
} from "./history.ts";
export {
  DEFAULT_IMAGE_LIMITS,
  type ImageCodec,
  type ImageLimits,
  type ImageSize,
} from "./images/codec.ts";
export { type OutboundRequest, prepareOutboundMessages, repairToolPairing } from "./outbound.ts";
export type { Clock, Pass, PassResult } from "./pass.ts";
export { toContractShape } from "./passes/contract-shape.ts";
export { fitToolCalls } from "./passes/fit-calls.ts";
export { fitText, fitThinking, settleContentForWire, type WireOptions } from "./passes/fit-wire.ts";
export {
  type ImageOptions,
  removeBlankContent,
  sanitizeContentBlocksImages,
  sanitizeSessionMessagesImages,
} from "./passes/images.ts";
export {
  annotateInterSessionUserMessages,
  stripInterSessionPromptPrefixForDisplay,
} from "./passes/inter-session.ts";
export { type PairingOptions, sanitizeToolUseResultPairing } from "./passes/pair-tool-results.ts";
export {
  type MessagesPayload,
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
export { sanitizeToolCallInputs, type ToolCallOptions } from "./passes/tool-calls.ts";
export { clearStaleUsage, stripToolResultDetails } from "./passes/tool-details.ts";
export { sanitizeToolCallId, sanitizeToolCallIds, type ToolIdOptions } from "./passes/tool-ids.ts";
export {
  bootstrapFirstTurn,
  dropForeignToolResultBlocks,
  validateAnthropicTurns,
  validateGeminiTurns,
} from "./passes/turns.ts";
export type { RoutedModel } from "./policies.ts";
export type {
  ModelTraits,
  PolicyFlags,
  ProviderPolicies,
  ProviderPolicy,
  Route,
  ToolCallIdMode,
  TranscriptPolicy,
} from "./policy.ts";
export {
  createTranscriptPolicy,
  readSideRecords,
  type TranscriptPolicyInput,
  type TranscriptPolicyOptions,
  type TranscriptPolicyPort,
} from "./port.ts";
export { stripInboundMetadata, stripInternalRuntimeContext } from "./runtime-context.ts";
export { type PolicyRequest, resolveTranscriptPolicy } from "./select.ts";
export { isSilentReply } from "./silent-reply.ts";
export { TEXTS } from "./texts.ts";
export { type WireRules, wireRules } from "./wires.ts";
