// What each mark of a call is called by people, in the page and at a terminal.
import type { CallMark } from "./shapes/calls.ts";

export const MARK_WORDS: Readonly<Record<CallMark, string>> = {
  compaction: "compaction",
  prune: "tool output pruned",
  overflow: "too large for the model",
  "cache-broken": "cache broken",
  degraded: "another engine answered",
  failed: "failed",
  stopped: "stopped",
  lost: "a missing or damaged report hides calls",
  fallback: "another model answered",
};
