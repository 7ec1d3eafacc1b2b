// Shows the model the newest part of a session that fits, in whole tool pairs.
import {
  type AgentMessage,
  type ContextEngine,
  definePluginEntry,
  delegateCompactionToRuntime,
} from "@clew/plugin-sdk/core";
import { estimateMessage, estimateMessages } from "@clew/plugin-sdk/tokens";
import { freshTail } from "@clew/plugin-sdk/transcript";

export const createEngine = (): ContextEngine => ({
  info: { id: "example-minimal", name: "Minimal example" },
  // The host's transcript holds every message already: there is nothing to record.
  ingest: () => ({ ingested: false }),
  assemble({ messages, tokenBudget = Infinity }) {
    const room = { tokens: Infinity, maxTokens: tokenBudget, count: highOf };
    const { start, tokens } = freshTail(messages, room);
    const kept = messages.slice(start);
    return {
      messages: kept,
      estimatedTokens: estimateMessages(kept).estimate,
      // The newest turn may be running: it is kept whatever it costs, and the host is told.
      promptAuthority: tokens <= tokenBudget ? "assembled" : "preassembly_may_overflow",
    };
  },
  compact: delegateCompactionToRuntime,
});

/** The high estimate: what risks an overflow is decided by the worst case. */
const highOf = (message: AgentMessage) => estimateMessage(message).high;

export default definePluginEntry({
  id: "example-minimal",
  name: "Minimal example",
  kind: "context-engine",
  register: (api) => api.registerContextEngine("example-minimal", createEngine),
});
