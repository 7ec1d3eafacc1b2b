// Tells whether a client brings what is stored already.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { messageOf } from "../../inspect/stored-message.ts";
import { messageText } from "../../reports/message-text.ts";
import { callKeys } from "../match/call-key.ts";
import { formOf } from "../wires/json.ts";

/** How many messages are those entries, in their order. */
export function startInCommon(
  entries: readonly TranscriptEntry[],
  messages: readonly AgentMessage[],
): number {
  const differs = entries.findIndex((entry, at) => {
    const message = messages[at];
    return message === undefined || !saysTheSame(messageOf(entry)!, message);
  });
  return differs < 0 ? entries.length : differs;
}

/** However its provider and its client each write it. */
const saysTheSame = (stored: AgentMessage, message: AgentMessage): boolean =>
  stored.role === message.role &&
  (stored.role === "assistant"
    ? isSameReply(message, stored)
    : messageText(stored) === messageText(message));

/** By the id of a call, else by what is said and called, in whatever order its arguments stand. */
export function isSameReply(message: AgentMessage, reply: AssistantMessage): boolean {
  if (message.role !== "assistant") return false;
  const ids = callsOf(reply);
  return callsOf(message).some((id) => ids.includes(id)) || toldBy(message) === toldBy(reply);
}

/** Words with which the reply begins, and no call: its client has heard so much of it. */
export function isBeginningOf(message: AgentMessage, reply: AssistantMessage): boolean {
  if (message.role !== "assistant" || callsOf(message).length > 0) return false;
  const words = toldBy(message);
  return words !== "" && toldBy(reply).startsWith(words);
}

const toldBy = ({ content }: AssistantMessage): string =>
  content
    .flatMap((block) => {
      if (block.type === "toolCall") return [formOf(block.name, block.arguments)];
      return block.type === "text" ? [block.text] : [];
    })
    .join("\n")
    .replace(/\s+/g, " ")
    .trim();

/** By keys, where a server has given ids. */
const callsOf = ({ content }: AssistantMessage): string[] =>
  content.flatMap((block) =>
    block.type === "toolCall" && block.id !== ""
      ? callKeys([block.id], [formOf(block.name, block.arguments)])
      : [],
  );
