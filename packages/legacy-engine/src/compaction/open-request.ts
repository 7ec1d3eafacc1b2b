// Which request of a person is still open: the last user message without an accepted answer.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { type TranscriptEntry, textOf } from "@clew/plugin-sdk/transcript";

export interface OpenRequest {
  entryId: string;
  /** Position in the branch. */
  index: number;
  message: AgentMessage;
  text: string;
}

/** Undefined when the last user message was answered, or when there is none since the last reset. Reads entries from the end, no further than needed. */
export function openRequestOf(branch: readonly TranscriptEntry[]): OpenRequest | undefined {
  for (let index = branch.length - 1; index >= 0; index--) {
    const entry = branch[index]!;
    if (entry.type === "reset") return undefined;
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "user") return { entryId: entry.id, index, message, text: textOf(message) };
    if (isAcceptedAnswer(message)) return undefined;
  }
  return undefined;
}

/** A reply that ended by itself and says something; a failed, aborted or half-way one answers nothing. */
function isAcceptedAnswer(message: AgentMessage): boolean {
  return (
    message.role === "assistant" && (message.stopReason === "stop" || message.stopReason === "length") && textOf(message).trim() !== ""
  );
}
