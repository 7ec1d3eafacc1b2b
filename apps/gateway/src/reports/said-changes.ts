// Leaves aside changes of a policy that no provider notices.
import type { PolicyChange } from "@clew/plugin-sdk/host";

/** Rules that change only what no provider is sent. */
const UNSENT: ReadonlySet<string> = new Set(["stale-usage", "tool-details"]);

/** Pure. Changes of what is sent. */
export const saidChanges = (changes: readonly PolicyChange[]): PolicyChange[] =>
  changes.filter(({ rule }) => !UNSENT.has(rule));
