// The smallest correct context engine, which remembers messages in memory.
import type { ContextEngine } from "../contract/engine.ts";
import type { AgentMessage } from "../contract/message.ts";
import type { SessionRef } from "../contract/session.ts";
import { delegateCompactionToRuntime } from "../delegate.ts";
import { estimateMessages } from "../tokens/message.ts";
import { atomicGroups } from "../transcript/tool-pairs.ts";

/** An engine to copy from. What it remembers ends with the process. */
export function createMemoryEngine(): ContextEngine {
  const sessions = new Map<string, Map<string, AgentMessage>>();
  const remembered = ({ sessionKey, sessionId }: SessionRef) => {
    const key = sessionKey ?? sessionId;
    if (!sessions.has(key)) sessions.set(key, new Map());
    return sessions.get(key)!;
  };
  return {
    info: { id: "memory", name: "Memory engine" },
    ingest({ message, ...session }) {
      const messages = remembered(session);
      const event = message.idempotencyKey ?? JSON.stringify(message);
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
