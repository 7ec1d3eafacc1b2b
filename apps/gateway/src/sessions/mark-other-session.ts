// Marks a message that another session sends, so that nobody takes it for a person's.
import type { MessageProvenance, UserMessage } from "@clew/plugin-sdk/core";
import { annotateInterSessionUserMessages } from "@clew/transcript-policy/passes";

/** What another session says by a tool; undefined: more than one does. */
export const saidBy = (
  sourceSessionKey: string | undefined,
  sourceTool: string,
): MessageProvenance => ({
  kind: "inter_session",
  ...(sourceSessionKey !== undefined && { sourceSessionKey }),
  sourceTool,
});

/**
 * By its provenance: the marker is stored with it, so that engines which keep only the text keep
 * it too. The same message where no other session sent it.
 */
export function markOtherSession(message: UserMessage): UserMessage {
  const { messages } = annotateInterSessionUserMessages({ messages: [message] });
  return messages[0] as UserMessage;
}
