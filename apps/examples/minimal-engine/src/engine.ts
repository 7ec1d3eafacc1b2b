// Shows the model the newest part of a session that fits, in whole tool pairs.
import {
  type ContextEngine,
  definePluginEntry,
  delegateCompactionToRuntime,
} from "@clew/plugin-sdk/core";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { atomicGroups } from "@clew/plugin-sdk/transcript";

export const createEngine = (): ContextEngine => ({
  info: { id: "example-minimal", name: "Minimal example" },
  // The host's transcript holds every message already: there is nothing to record.
  ingest: () => ({ ingested: false }),
  assemble({ messages, tokenBudget = Infinity }) {
    let start = messages.length;
    let tokens = 0;
    for (const group of atomicGroups(messages).reverse()) {
      // The high estimate: what risks an overflow is decided by the worst case.
      tokens += estimateMessages(messages.slice(group.start, group.end)).high;
      if (tokens > tokenBudget) break;
      start = group.start;
    }
    const kept = messages.slice(start);
    return { messages: kept, estimatedTokens: estimateMessages(kept).estimate };
  },
  compact: delegateCompactionToRuntime,
});

export default definePluginEntry({
  id: "example-minimal",
  name: "Minimal example",
  kind: "context-engine",
  register: (api) => api.registerContextEngine("example-minimal", createEngine),
});
