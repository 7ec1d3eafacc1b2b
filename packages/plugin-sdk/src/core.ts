// Everything a plugin author imports to write an engine: the contract's types, schemas and helpers.
export type {
  ContextEngine,
  ContextEngineFactory,
  EngineFactoryContext,
  EngineMethod,
} from "./contract/engine.ts";
export type {
  ContextEngineInfo,
  EngineOperation,
  HostAddedParam,
  HostCapability,
  HostRequirement,
} from "./contract/info.ts";
export type {
  AfterTurnParams,
  AssembleParams,
  AssembleResult,
  BootstrapParams,
  BootstrapResult,
  CommitTurnParams,
  CommitTurnResult,
  CompactCode,
  CompactParams,
  CompactResult,
  IngestBatchParams,
  IngestBatchResult,
  IngestParams,
  IngestResult,
  MaintainParams,
  MaintainResult,
  PrepareSubagentSpawnParams,
  SubagentEndedParams,
  SubagentPreparation,
} from "./contract/lifecycle.ts";
export {
  type AgentMessage,
  AgentMessageSchema,
  type AssistantBlock,
  type AssistantMessage,
  type BashExecutionMessage,
  type BranchSummaryMessage,
  type CompactionSummaryMessage,
  type CustomMessage,
  type HostEnvelope,
  type ImageBlock,
  type MessageProvenance,
  type MessageRole,
  type RedactedThinkingBlock,
  type StopReason,
  type TextBlock,
  type ThinkingBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  type ToolResultMessage,
  type Usage,
  type UserBlock,
  type UserMessage,
} from "./contract/message.ts";
export {
  type ModelCall,
  type ModelError,
  type ModelRef,
  type StreamEvent,
  type ToolDefinition,
  ZERO_USAGE,
} from "./contract/model.ts";
export {
  definePluginEntry,
  type PluginApi,
  type PluginCommand,
  type PluginEntry,
  type PluginLogger,
  type PluginManifest,
  PluginManifestSchema,
  type PluginRuntime,
  type PluginsConfig,
  PluginsConfigSchema,
  type PluginTool,
  type PluginToolFactory,
  type PluginToolResult,
  type RegistrationMode,
} from "./contract/plugin.ts";
export type { PolicyChange, PolicySideRecord } from "./contract/policy.ts";
export type {
  LlmCompleteParams,
  LlmCompleteResult,
  PromptCacheInfo,
  ReasonCode,
  RuntimeContext,
  RuntimeSettings,
  TranscriptRewriteRequest,
  TranscriptRewriteResult,
} from "./contract/runtime.ts";
export type {
  SessionRef,
  SessionTarget,
  TranscriptEntryAnchor,
  TurnAdmission,
} from "./contract/session.ts";
export {
  delegateCompactionToRuntime,
  isRuntimeCompactionDelegate,
  provideRuntimeCompaction,
  type RuntimeCompaction,
  runtimeCompactionSlot,
} from "./delegate.ts";
export { ContextEngineError, ERROR_CODES, type ErrorCode, isAbort } from "./errors.ts";
export {
  buildMemorySystemPromptAddition,
  type MemoryPromptParams,
  type MemoryPromptSection,
  normalizePromptText,
  provideMemoryPromptSection,
} from "./memory-prompt.ts";
