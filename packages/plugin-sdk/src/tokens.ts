// Counting tokens: the estimator with its bounds, the free hard bound, and exact counts on demand.
export { byteBound, chars4, estimator, type TokenCounter } from "./tokens/counter.ts";
export { addEstimates, estimateText, type TokenEstimate } from "./tokens/estimate.ts";
export {
  BLOCK_OVERHEAD,
  chars4Message,
  countMessage,
  estimateMessage,
  estimateMessages,
  IMAGE_TOKENS,
  MESSAGE_OVERHEAD,
} from "./tokens/message.ts";
export {
  type ExactCounter,
  type ExactCounterOptions,
  loadExactCounter,
} from "./tokens/tiktoken.ts";
