// Shows the model the newest part of a session that fits, in whole tool pairs.
import {
  type AgentMessage,
  type ContextEngine,
  definePluginEntry,
  delegateCompactionToRuntime,
} from "@clew/plugin-sdk/core";
import { estimateMessage, estimateMessages } from "@clew/plugin-sdk/tokens";
import { newestThatFit } from "@clew/plugin-sdk/transcript";

export const createEngine = (): ContextEngine => ({
  info: { id: "example-minimal", name: "Minimal example" },
  // The host's transcript holds every message already: there is nothing to record.
  ingest: () => ({ ingested: false }),
  assemble({ messages, tokenBudget = Infinity }) {
    const fit = newestThatFit(messages, { maxTokens: tokenBudget, count: highOf });
    const { messages: kept, tokens, lacksSummary } = fit;
    return {
      messages: kept,
      estimatedTokens: estimateMessages(kept).estimate,
      ...(lacksSummary && { systemPromptAddition: NO_ROOM }),
      // The newest turn may be running: it is kept whatever it costs, and the host is told.
      promptAuthority: tokens <= tokenBudget ? "assembled" : "preassembly_may_overflow",
    };
  },
  compact: delegateCompactionToRuntime,
});

/** Whoever reads the view is to know that it is not all. */
const NO_ROOM =
  "The summary of what was said before the messages below is left out for lack of room.";

/** The high estimate: what risks an overflow is decided by the worst case. */
const highOf = (message: AgentMessage) => estimateMessage(message).high;

export default definePluginEntry({
  id: "example-minimal",
  name: "Minimal example",
  kind: "context-engine",
  register: (api) => api.registerContextEngine("example-minimal", createEngine),
});
