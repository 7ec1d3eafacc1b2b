// Everything that a host imports and an engine never needs.

export {
  abortable,
  type LinkedSignal,
  linkSignals,
  sleep,
  type WaitBound,
  within,
} from "./abort.ts";
export {
  DEFAULT_RESERVE_TOKENS,
  ESTIMATE_MARGIN,
  fixedTokensOf,
  planBudget,
  promptTokensOf,
  reserveOf,
  type TokenBudget,
} from "./budget.ts";
export { SECRET_NAME, secretsInAddress, shownAddress } from "./catalogue/address.ts";
export { APIS, findApi } from "./catalogue/apis.ts";
export { modelProfile, PRICES_AS_OF, type ProfileRequest } from "./catalogue/find-profile.ts";
export { ProfileChangesSchema } from "./catalogue/profile-changes.ts";
export { findProvider, PROVIDERS, providerAt } from "./catalogue/providers.ts";
export type {
  ApiRecord,
  ChatFlavorName,
  ModelRecord,
  PolicyFamily,
  ProviderRecord,
  WireName,
} from "./catalogue/record.ts";
export { type CompactionAsk, type CompactionTrigger, compactionAskOf } from "./compaction-ask.ts";
export {
  type ContextSize,
  type ContextSizeInput,
  type ContextVerdict,
  type MessageTokens,
  messageTokenSteps,
  newestTokensOf,
  planContextSize,
  type SizedMessage,
  type SizeOptions,
} from "./context-size.ts";
export type { EngineMethod } from "./contract/engine.ts";
export { type PluginManifest, PluginManifestSchema } from "./contract/manifest.ts";
export { AgentMessageSchema } from "./contract/message.ts";
export {
  type CacheRequest,
  type CallAsk,
  type ModelCall,
  type ModelError,
  type ModelRef,
  type ProviderTold,
  type ReasoningEffort,
  type ReasoningRequest,
  type ResponseFormat,
  type RetriedCall,
  type ServerContext,
  type StreamEvent,
  type ToolChoice,
  type ToolDefinition,
  ZERO_USAGE,
} from "./contract/model.ts";
export { type PluginsConfig, PluginsConfigSchema } from "./contract/plugins-config.ts";
export type { PolicyChange, PolicySideRecord, RefusedParts } from "./contract/policy.ts";
export type {
  CacheProfile,
  CallsProfile,
  CostProfile,
  ImagesProfile,
  LimitsProfile,
  ModelProfile,
  ProfileChanges,
  ReadableProducers,
  ReasoningProfile,
  ReasoningReplay,
  TurnsProfile,
} from "./contract/profile.ts";
export { declaredParams } from "./declared-params.ts";
export {
  type CompactionSlot,
  isRuntimeCompactionDelegate,
  provideRuntimeCompaction,
  type RuntimeCompaction,
  runtimeCompactionSlot,
} from "./delegate.ts";
export { type TurnTaking, turnTakingOf } from "./hosts/adapt-engine.ts";
export { isRecord } from "./is-record.ts";
export { decodeSteps, parseJsonSteps } from "./long-json.ts";
export {
  type MemoryPromptSection,
  type MemoryPromptSlot,
  normalizePromptText,
  type PreparedMemoryPrompt,
  provideMemoryPromptSection,
  provideMemoryPromptSlot,
} from "./memory-prompt.ts";
export { MAX_LEVELS, withoutDeepParts } from "./nesting.ts";
export { createNotes, isFixed, markAsFixed, type Notes } from "./notes.ts";
export { type CallCount, countCalls, growthPerCall, type SessionPace } from "./pace.ts";
export {
  createSlices,
  inSlices,
  pause,
  type SliceOptions,
  type Slices,
  type Steps,
  stepsAtOnce,
  stepsInSlices,
} from "./slices.ts";
export type { WaterMarks, WaterSettings } from "./water.ts";
