// Everything hosts use of the transcript policy.
export type { Clock, Pass, PassResult } from "./pass.ts";
export { type PairingOptions, sanitizeToolUseResultPairing } from "./passes/pair-tool-results.ts";
export { TEXTS } from "./texts.ts";
