// Counting tokens: the estimator with its bounds, the free hard bound, and exact counts on demand.
export { byteBound, type TokenCounter } from "./tokens/counter.ts";
export { estimateText, type TokenEstimate } from "./tokens/estimate.ts";
export {
  chars4Message,
  countMessage,
  estimateMessage,
  estimateMessages,
} from "./tokens/message.ts";
export {
  type ExactCounter,
  type ExactCounterOptions,
  loadExactCounter,
} from "./tokens/tiktoken.ts";
