// What tests of engines and hosts build with: messages in words and the smallest correct engine. Needs no test runner.
// The conformance kit (testEngine, checkEngine) is not written yet; its place is testing/conformance.ts with testing/cases/*.ts beside it.
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
