// Exports what tests of engines and hosts are built with, whatever the test runner.
export type { CaseGroup } from "./testing/case.ts";
export type {
  EngineMaker,
  EngineUnderTestContext,
  SessionOptions,
} from "./testing/case-context.ts";
export type { CaseStorage } from "./testing/case-storage.ts";
export {
  type CaseResult,
  type ConformanceOptions,
  type ConformanceReport,
  checkEngine,
  replaySession,
  type TestEngineOptions,
  testEngine,
} from "./testing/conformance.ts";
export { createMemoryEngine } from "./testing/memory-engine.ts";
export {
  assistant,
  type ConversationOptions,
  conversation,
  FIRST_TIMESTAMP,
  toolCall,
  toolResult,
  user,
} from "./testing/messages.ts";
export type { ReadableEngine } from "./testing/sessions/record.ts";
export type { SessionScript } from "./testing/sessions/script.ts";
