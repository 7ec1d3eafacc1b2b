// Shortens earlier tool results in what the model sees, and leaves compaction to the host.
import {
  type AgentMessage,
  type ContextEngine,
  definePluginEntry,
  delegateCompactionToRuntime,
} from "@clew/plugin-sdk/core";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { freshTail, headOf } from "@clew/plugin-sdk/transcript";

const MAX_CHARS = 2_000;

export const createEngine = (): ContextEngine => ({
  info: { id: "example-delegating", name: "Delegating example" },
  ingest: () => ({ ingested: false }),
  assemble({ messages }) {
    const { start } = freshTail(messages, { turns: 2 });
    const view = messages.map((message, index) => (index < start ? shorten(message) : message));
    return { messages: view, estimatedTokens: estimateMessages(view).estimate };
  },
  // Not an empty method: hosts call it on every overflow, and nobody else would compact.
  compact: delegateCompactionToRuntime,
});

/**
 * A new message; the given one stays as it is. The same input gives the same bytes, so that a
 * prompt cache keeps its prefix.
 */
function shorten(message: AgentMessage): AgentMessage {
  if (message.role !== "toolResult") return message;
  const content = message.content.map((block) => {
    if (block.type !== "text" || block.text.length <= MAX_CHARS) return block;
    // Not `slice`, which may halve an emoji: some providers refuse half a character.
    const head = headOf(block.text, MAX_CHARS);
    const rest = block.text.length - head.length;
    return { ...block, text: `${head}\n[${rest} more characters not shown]` };
  });
  return { ...message, content };
}

export default definePluginEntry({
  id: "example-delegating",
  name: "Delegating example",
  kind: "context-engine",
  register: (api) => api.registerContextEngine("example-delegating", createEngine),
});
