// What agent hosts import to register, resolve and run engines.
export type {
  DeliveryChange,
  DeliveryLine,
  DeliveryPort,
  DeliveryRecord,
  Refusal,
} from "./delivery-port.ts";
export { type Bounds, DEFAULT_BOUNDS_MS } from "./engine/bounds.ts";
export type {
  CallAs,
  CallScope,
  EngineGuard,
  FailurePolicy,
  GuardedEngine,
} from "./engine/call-scope.ts";
export {
  assertHostSupport,
  CLEW_EMBEDDED_HOST,
  evaluateHostSupport,
  HOST_CAPABILITIES,
  type HostSupport,
} from "./engine/host-support.ts";
export { completeForEngine, type LlmBinding, type LlmPolicy } from "./engine/llm.ts";
export type {
  Quarantine,
  QuarantineFailure,
  QuarantineRecord,
  SetAsideScope,
} from "./engine/quarantine.ts";
export {
  type EngineRegistration,
  FALLBACK_ENGINE_ID,
  type RegistrationResult,
} from "./engine/registration.ts";
export {
  createEngineRegistry,
  type EngineRegistry,
  type RegistryOptions,
} from "./engine/registry.ts";
export {
  type EngineSelection,
  pluginOf,
  type ResolvedEngine,
  resolveContextEngine,
} from "./engine/resolve.ts";
export { buildRuntimeSettings, type RuntimeSettingsInput } from "./engine/runtime-settings.ts";
export {
  needsPreparation,
  notifySubagentEnded,
  type PreparedSpawn,
  prepareSubagentSpawn,
  type SubagentContextMode,
} from "./engine/subagents.ts";
export { type EngineValidation, validateEngine } from "./engine/validate.ts";
export type { ExecutionHost } from "./execution-host.ts";
export type {
  ExecutionAnswer,
  ExecutionEvent,
  ExecutionItem,
  ExecutionOutcome,
  ExecutionPort,
  ExecutionRun,
  ExecutionTurn,
} from "./execution-port.ts";
export type {
  ClockPort,
  CompactionCallOptions,
  CompactionHookEvent,
  CompactionPort,
  HookPort,
  HostPorts,
  IdPort,
  LogPort,
  ModelPort,
  PolicyInput,
  PolicyPort,
  Span,
  SpanPort,
  ToolPort,
} from "./ports.ts";
export type { ModelChoice } from "./recovery/plan-fallback.ts";
export type { Remedy } from "./recovery/remedy.ts";
export type { BudgetReport, EngineCallReport, EngineFailure } from "./report/engine-call.ts";
export type { ExecutionProjection, ExecutionReport } from "./report/execution.ts";
export type { ItemCode, ItemSource, ReportItem, ReportParts } from "./report/item.ts";
export type {
  CacheReport,
  ModelCallReport,
  SideCallReport,
  WithheldEntry,
} from "./report/model-call.ts";
export type { PassedRequest } from "./report/passed-request.ts";
export type {
  CompactionReport,
  FailureKind,
  RecoveryReport,
  ToolCallReport,
  ToolServerNote,
  TurnReport,
} from "./report/turn-report.ts";
export { callIdsOf, withCallIds } from "./request/call-ids.ts";
export { type NextRequest, predictCache, type SentRequest } from "./request/predict-cache.ts";
export { type SystemPart, tokensAmong } from "./request/request-items.ts";
export type { Measurement } from "./request/request-size.ts";
export { whatIsSaid } from "./request/says-the-same.ts";
export { partOfBranch } from "./session/branch-part.ts";
export { createDeliveryLedger, type DeliveryLedger } from "./session/delivery-ledger.ts";
export {
  type BlockedTurn,
  type DeliveryStatus,
  deliveryStatus,
} from "./session/delivery-status.ts";
export { type MaintenanceLane, settleMaintenance } from "./session/maintenance-lane.ts";
export { type RetriedSession, retrySession } from "./session/retry-session.ts";
export type { SessionLock, WhenBusy } from "./session/session-lock.ts";
export { createSessionState, type SessionState } from "./session/session-state.ts";
export type { ToolOutcome } from "./tool-outcome.ts";
export type {
  BranchPart,
  HostSession,
  SuccessorPort,
  TranscriptPort,
  TranscriptStep,
} from "./transcript-port.ts";
export {
  type CompactSessionRequest,
  type CountedSession,
  compactSession,
  countSession,
} from "./turn/compact-session.ts";
export type { CompactionOutcome } from "./turn/compaction.ts";
export { lifecycleOf } from "./turn/lifecycle.ts";
export {
  type PreviewedStep,
  type PreviewRequest,
  previewRequest,
  type RequestPreview,
} from "./turn/preview.ts";
export { runTurn } from "./turn/run-turn.ts";
export type {
  EndedCall,
  PromptAdditions,
  SentCall,
  TurnError,
  TurnEvent,
  TurnRequest,
  TurnResult,
  TurnSettings,
  TurnSoFar,
  TurnStep,
} from "./turn/turn-request.ts";
