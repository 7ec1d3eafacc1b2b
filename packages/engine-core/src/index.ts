// What agent hosts import: registry, resolution, guard, the turn, and the ports they must supply.
export { DEFAULT_BOUNDS_MS } from "./bounds.ts";
export { DEFAULT_RESERVE_TOKENS, planBudget, type TokenBudget } from "./budget.ts";
export { type CompactSessionRequest, compactSession } from "./compact-session.ts";
export { type CompactionOutcome, MAX_OVERFLOW_ATTEMPTS } from "./compaction.ts";
export { type PendingTurn, planPendingTurns } from "./durable.ts";
export type {
  CallScope,
  EngineGuard,
  FailurePolicy,
  GuardedEngine,
  GuardOptions,
} from "./guard.ts";
export { guardEngine } from "./guard.ts";
export {
  assertHostSupport,
  CLEW_EMBEDDED_HOST,
  type ExecutionHost,
  evaluateHostSupport,
  type HostSupport,
} from "./host-support.ts";
export { completeForEngine, type LlmBinding } from "./llm.ts";
export { settleMaintenance } from "./maintenance-lane.ts";
export { lifecycleOf } from "./open-report.ts";
export type {
  ClockPort,
  CommitCursor,
  CompactionHookEvent,
  CompactionPort,
  HookPort,
  HostPorts,
  HostSession,
  IdPort,
  LogPort,
  ModelPort,
  OutboxPort,
  PolicyInput,
  PolicyPort,
  SuccessorPort,
  ToolOutcome,
  ToolPort,
  TranscriptPort,
} from "./ports.ts";
export {
  type Precheck,
  type PrecheckInput,
  type PrecheckRoute,
  planPrecheck,
  type RequestSize,
} from "./precheck.ts";
export { type PreviewRequest, previewRequest, type RequestPreview } from "./preview.ts";
export type { Quarantine, QuarantineRecord } from "./quarantine.ts";
export { planRecovery, type RecoveryStep } from "./recovery.ts";
export {
  createEngineRegistry,
  type EngineRegistration,
  type EngineRegistry,
  FALLBACK_ENGINE_ID,
  type RegistrationResult,
  type RegistryOptions,
} from "./registry.ts";
export type {
  BudgetReport,
  CompactionReport,
  EngineCallReport,
  ItemSource,
  ModelCallReport,
  ReportItem,
  ReportParts,
  TurnReport,
} from "./report.ts";
export type { SystemPart } from "./request-items.ts";
export {
  type EngineSelection,
  planEngineSelection,
  pluginOf,
  type ResolvedEngine,
  resolveContextEngine,
} from "./resolve.ts";
export {
  buildRuntimeSettings,
  type RuntimeSettingsInput,
  toReasonCode,
} from "./runtime-settings.ts";
export { createSessionState, type SessionState } from "./session-state.ts";
export {
  needsPreparation,
  notifySubagentEnded,
  type PreparedSpawn,
  prepareSubagentSpawn,
  type SubagentContextMode,
} from "./subagents.ts";
export { planSuccessor, type SuccessorPlan } from "./successor.ts";
export { runTurn } from "./turn.ts";
export type {
  LlmPolicy,
  PromptAdditions,
  TurnError,
  TurnEvent,
  TurnRequest,
  TurnResult,
  TurnSettings,
} from "./turn-request.ts";
export type { RecoveryState } from "./turn-run.ts";
export { type EngineValidation, validateEngine } from "./validate.ts";
