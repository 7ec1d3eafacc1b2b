// Tells the messages that only quote what is stored from those that say something.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { blocksOf } from "@clew/plugin-sdk/transcript";

/** A call of a recall tool, or what one gave back. */
export function isRecall(message: AgentMessage): boolean {
  if (message.role === "toolResult") return isRecallTool(message.toolName);
  if (message.role !== "assistant") return false;
  const said = blocksOf(message.content).filter(
    ({ type, text }) => type !== "thinking" && !(type === "text" && text === ""),
  );
  return (
    said.length > 0 && said.every(({ type, name }) => type === "toolCall" && isRecallTool(name))
  );
}

/** Ours, and those of a host that this session may have had before. */
const isRecallTool = (name: unknown) =>
  typeof name === "string" && /^(?:lcm_|session_(?:search|read)$)/.test(name);
