// Gives a committed turn the ids that its host names apart from the messages.
import { type AgentMessage, type CommitTurnParams, messageId } from "@clew/plugin-sdk/core";
import { withMessageId } from "@clew/plugin-sdk/transcript";

/** Its first and its last message, where the places that the host gives are theirs. */
export function anchored({
  messages,
  admission,
  terminal,
}: Pick<CommitTurnParams, "messages" | "admission" | "terminal">): readonly AgentMessage[] {
  const [first, last] = [messages[0], messages.at(-1)];
  const spans = terminal.activeMessagePosition - admission.activeMessagePosition + 1;
  if (first === undefined || last === undefined || spans !== messages.length || spans < 2)
    return messages;
  const withId = (message: AgentMessage, id: string) =>
    messageId(message) === undefined ? withMessageId(message, id) : message;
  return [
    withId(first, admission.entryId),
    ...messages.slice(1, -1),
    withId(last, terminal.entryId),
  ];
}
