// Keeps the newest replies as they came, for wires that have no room for all of them.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelRef } from "@clew/plugin-sdk/host";

export interface RememberedReplies {
  keep(reply: AssistantMessage): void;
  /** The reply with its proofs, where this model gave it; else the very message. */
  asItCame(message: AgentMessage, model: ModelRef): AgentMessage;
}

/** Calls that are known; without its proofs a reply is still a reply. */
const MOST_CALLS = 4096;

export function createRememberedReplies(mostCalls = MOST_CALLS): RememberedReplies {
  /** By the id of a call; what was called last stands last. */
  const byCall = new Map<string, AssistantMessage>();
  return {
    keep(reply) {
      for (const id of callIds(reply)) {
        byCall.delete(id);
        byCall.set(id, reply);
      }
      for (const id of byCall.keys())
        if (byCall.size > mostCalls) byCall.delete(id);
        else break;
    },
    asItCame(message, { provider, id, api }) {
      if (message.role !== "assistant") return message;
      const ids = callIds(message);
      const kept = byCall.get(ids[0] ?? "");
      const isSame =
        kept?.provider === provider &&
        kept.model === id &&
        kept.api === api &&
        callIds(kept).join() === ids.join();
      return isSame ? kept : message;
    },
  };
}

const callIds = ({ content }: AssistantMessage): string[] =>
  content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
