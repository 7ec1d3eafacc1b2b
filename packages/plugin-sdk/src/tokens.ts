// Exports the token estimator, the hard byte bound and exact counts.
export { byteBound, type TokenCounter } from "./tokens/counter.ts";
export { estimateText, type TokenEstimate } from "./tokens/estimate.ts";
export {
  chars4Message,
  countMessage,
  estimateMessage,
  estimateMessageSteps,
  estimateMessages,
} from "./tokens/message.ts";
export {
  type ExactCounter,
  type ExactCounterOptions,
  loadExactCounter,
} from "./tokens/tiktoken.ts";
