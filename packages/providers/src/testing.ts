// A loopback server for tests that speaks a provider's wire and checks each request.
export type { ChatReply } from "./testing/chat-reply.ts";
export { checkChatRequest, type Violation } from "./testing/chat-rules/check.ts";
export type { ChatRuleFlavor } from "./testing/chat-rules/rule.ts";
export {
  createOpenAIEmulator,
  type EmulatorAnswer,
  type EmulatorFault,
  type EmulatorOptions,
  type OpenAIEmulator,
  type ReceivedRequest,
} from "./testing/emulator.ts";
