// The smallest correct context engine, which remembers messages in memory.
import type { ContextEngine } from "../contract/engine.ts";
import type { AgentMessage } from "../contract/message.ts";
import type { SessionRef } from "../contract/session.ts";
import { delegateCompactionToRuntime } from "../delegate.ts";
import { estimateMessages } from "../tokens/message.ts";
import { messageId } from "../transcript/message-id.ts";
import { atomicGroups } from "../transcript/tool-pairs.ts";

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
      let start = history.length;
      let tokens = 0;
      for (const group of atomicGroups(history).reverse()) {
        tokens += estimateMessages(history.slice(group.start, group.end)).high;
        if (tokens > tokenBudget) break;
        start = group.start;
      }
      return {
        messages: history.slice(start),
        estimatedTokens: estimateMessages(history.slice(start)).estimate,
      };
    },
    compact: delegateCompactionToRuntime,
  };
}
