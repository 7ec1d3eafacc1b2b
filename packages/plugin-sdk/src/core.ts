// Everything a plugin author imports to write an engine, and nothing that only hosts need.
export type {
  ContextEngine,
  ContextEngineFactory,
  EngineFactoryContext,
} from "./contract/engine.ts";
export type {
  EngineRow,
  EngineRows,
  OtherTranscript,
  SessionRows,
} from "./contract/engine-rows.ts";
export type {
  PluginChildEnd,
  PluginChildStart,
  PluginCompaction,
  PluginHookAnswer,
  PluginHookContext,
  PluginHooks,
  PluginInternalEvent,
  PluginModelCall,
  PluginModelInput,
  PluginModelOutput,
  PluginPromptAdditions,
  PluginPromptEvent,
  PluginReceivedMessage,
  PluginSessionEnd,
  PluginSessionReset,
  PluginToolCall,
  PluginToolEnd,
  PluginToolVerdict,
  PluginTurnEnd,
} from "./contract/hooks.ts";
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
export type { PluginLogger } from "./contract/logger.ts";
export type {
  MemoryCapability,
  MemoryFlushPlan,
  MemoryFlushPlanResolver,
  MemoryPromptBuilder,
  MemoryRuntime,
  MemorySearchManager,
  MemorySearchResult,
} from "./contract/memory.ts";
export type {
  AgentMessage,
  AssistantBlock,
  AssistantMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomMessage,
  HostEnvelope,
  ImageBlock,
  MessageProvenance,
  ProviderBlock,
  RedactedThinkingBlock,
  StopReason,
  TextBlock,
  ThinkingBlock,
  ThinkingCarrier,
  ToolCallBlock,
  ToolResultBlock,
  ToolResultMessage,
  Usage,
  UserBlock,
  UserMessage,
} from "./contract/message.ts";
export type {
  PluginAction,
  PluginHttpRequest,
  PluginHttpResponse,
  PluginHttpRoute,
  PluginMethod,
  PluginMethodRequest,
  PluginProgram,
  PluginProgramContext,
  PluginProgramOptions,
  PluginService,
  PluginServiceContext,
} from "./contract/offers.ts";
export type {
  MemoryToolOptions,
  PluginApi,
  PluginCommand,
  PluginEntry,
  PluginRuntime,
  PluginTool,
  PluginToolFactory,
  PluginToolResult,
  RegistrationMode,
} from "./contract/plugin.ts";
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
export type {
  PluginSubagents,
  SubagentRun,
  SubagentRunParams,
  SubagentRunStatus,
} from "./contract/subagent.ts";
export { delegateCompactionToRuntime } from "./delegate.ts";
export { ContextEngineError, ERROR_CODES, type ErrorCode, isAbort } from "./errors.ts";
export { definePluginEntry } from "./hosts/define-plugin-entry.ts";
export { type HistoryRequest, readHistory } from "./hosts/read-history.ts";
export {
  buildMemorySystemPromptAddition,
  type MemoryPromptParams,
  prepareMemorySystemPromptAddition,
} from "./memory-prompt.ts";
export { messageId, sameMessage } from "./transcript/message-id.ts";
