// The parts of built-in compaction that other engines and hosts use.
export type { CountMessage } from "./compaction/chunks.ts";
export type { IdentifierPolicy } from "./compaction/prompts.ts";
export type { RequestEnvironment } from "./compaction/request.ts";
export {
  type SummarizeRequest,
  summarizeInStages,
  summarizeWithFallback,
} from "./compaction/summarize.ts";
export {
  learnRatio,
  RATIO_BOUNDS,
  type RatioSample,
  type TokenRatio,
  UNKNOWN_RATIO,
} from "./compaction/token-ratio.ts";
