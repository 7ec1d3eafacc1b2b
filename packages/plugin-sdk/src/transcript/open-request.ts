// Which request of a person has no accepted answer yet.
import type { AgentMessage, UserMessage } from "../contract/message.ts";
import type { TranscriptEntry } from "./entries.ts";
import { textOf } from "./text.ts";

/** A request that nobody has answered yet. */
export interface OpenRequest {
  /** The entry that holds it. */
  entryId: string;
  /** Word for word. */
  message: UserMessage;
}

/**
 * The last user message of a branch without an accepted answer after it; undefined when it was
 * answered or when there is none since the last reset. A reply that failed, was aborted, only
 * called tools or says nothing answers nothing. Reads from the end, no further than needed.
 */
export function openRequest(entries: readonly TranscriptEntry[]): OpenRequest | undefined {
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index]!;
    if (entry.type === "reset") return undefined;
    if (entry.type !== "message") continue;
    if (entry.message.role === "user") return { entryId: entry.id, message: entry.message };
    if (isAcceptedAnswer(entry.message)) return undefined;
  }
  return undefined;
}

function isAcceptedAnswer(message: AgentMessage): boolean {
  return (
    message.role === "assistant" &&
    (message.stopReason === "stop" || message.stopReason === "length") &&
    textOf(message).trim() !== ""
  );
}
