// What a host uses of the transcript policy.
export { projectForDisplay, projectMessageForDisplay, projectTextForDisplay } from "./display.ts";
export { type ExplainRequest, explainInvalid, type InvalidMessage } from "./explain.ts";
export {
  type ModelSnapshot,
  type SanitizedHistory,
  type SanitizeRequest,
  sanitizeSessionHistory,
} from "./history.ts";
export type { ImageCodec, ImageLimits, ImageSize } from "./images/codec.ts";
export { type OutboundRequest, prepareOutboundMessages, repairToolPairing } from "./outbound.ts";
export type { Clock, PassResult } from "./pass.ts";
export type { ImageOptions } from "./passes/images.ts";
export type { ReplayContentOptions } from "./passes/replay-content.ts";
export {
  DEFAULT_POLICY,
  type PolicyFlags,
  type ProviderPolicies,
  type ProviderPolicy,
  type ToolCallIdMode,
  type TranscriptPolicy,
} from "./policies.ts";
export {
  createTranscriptPolicy,
  type TranscriptPolicyInput,
  type TranscriptPolicyOptions,
  type TranscriptPolicyPort,
} from "./port.ts";
export type { ModelTraits, Route } from "./route.ts";
export { type PolicyRequest, resolveTranscriptPolicy } from "./select.ts";
