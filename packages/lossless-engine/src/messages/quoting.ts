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

/** The message without its calls of recall tools: where a word is looked for, it does not stand. */
export function withoutRecall(message: AgentMessage): AgentMessage {
  if (message.role !== "assistant" || !Array.isArray(message.content)) return message;
  const content = message.content.filter(
    (block) => !(block.type === "toolCall" && isRecallTool(block.name)),
  );
  return content.length === message.content.length ? message : { ...message, content };
}

/** What a host wrote to stand for messages, which are stored themselves. */
export const isSummary = ({ role }: AgentMessage): boolean =>
  role === "compactionSummary" || role === "branchSummary";

/** True: the call of this id is the message's. */
export const makesCall = (message: AgentMessage, callId: string): boolean =>
  message.role === "assistant" &&
  blocksOf(message.content).some(({ type, id }) => type === "toolCall" && id === callId);

/** Ours, and those of a host that this session may have had before. */
const isRecallTool = (name: unknown) =>
  typeof name === "string" && /^(?:lcm_|session_(?:search|read)$)/.test(name);
