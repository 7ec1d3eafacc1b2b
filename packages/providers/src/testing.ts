// Loopback servers for tests that speak providers' wires, check each request, and remember.
export {
  type CheckedRequest,
  checkRequest,
  createAnthropicEmulator,
  createBedrockEmulator,
  createChatGPTEmulator,
  createEmulator,
  createGoogleEmulator,
  createMistralEmulator,
  createOpenAIEmulator,
  createResponsesEmulator,
  EMULATED_APIS,
  emulatedFlavors,
} from "./testing/emulators.ts";
export { checkChatRequest } from "./testing/openai-completions/rules/check.ts";
export type { ChatRuleFlavor } from "./testing/openai-completions/rules/rule.ts";
export type { Bill, Prices, PromptTokens, Usage } from "./testing/server/bill.ts";
export type { EmulatorFault } from "./testing/server/fault.ts";
export type { JsonObject } from "./testing/server/json.ts";
export type {
  Emulator,
  EmulatorAnswer,
  EmulatorOptions,
  ReceivedRequest,
  Violation,
} from "./testing/server/options.ts";
export type { EmulatedReply, ReplyBlock, ScriptedCall } from "./testing/server/reply.ts";
export { readEmulatorScript } from "./testing/server/script.ts";
