// The smallest correct context engine, which remembers messages in memory.
import type { ContextEngine } from "../contract/engine.ts";
import type { AgentMessage } from "../contract/message.ts";
import type { SessionRef } from "../contract/session.ts";
import { delegateCompactionToRuntime } from "../delegate.ts";
import { estimateMessage, estimateMessages } from "../tokens/message.ts";
import { messageId } from "../transcript/message-id.ts";
import { newestThatFit } from "../transcript/newest-that-fit.ts";

/** Whoever reads the view is to know that it is not all. */
const NO_ROOM =
  "The summary of what was said before the messages below is left out for lack of room.";

/** An engine to copy from. What it remembers ends with the process. */
export function createMemoryEngine(): ContextEngine {
  const sessions = new Map<string, Map<string, AgentMessage>>();
  // By the id, not the key: after /new the key stays, and the conversation is another one.
  const remembered = ({ sessionId }: SessionRef) => {
    if (!sessions.has(sessionId)) sessions.set(sessionId, new Map());
    return sessions.get(sessionId)!;
  };
  return {
    info: { id: "memory", name: "Memory engine" },
    ingest({ message, ...session }) {
      const messages = remembered(session);
      // A host that gives no ids may give keys; without either only the whole message is left.
      const event = messageId(message) ?? message.idempotencyKey ?? JSON.stringify(message);
      if (messages.has(event)) return { ingested: false };
      messages.set(event, structuredClone(message));
      return { ingested: true };
    },
    assemble({ messages, tokenBudget = Infinity, ...session }) {
      // The host's history is the truth; a host that has none asks for what was ingested.
      const history = messages.length > 0 ? messages : [...remembered(session).values()];
      // The high estimate: what risks an overflow is decided by the worst case.
      const count = (message: AgentMessage) => estimateMessage(message).high;
      const fit = newestThatFit(history, { maxTokens: tokenBudget, count });
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
  };
}
