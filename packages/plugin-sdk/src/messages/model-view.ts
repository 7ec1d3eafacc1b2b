// How messages of every role reach a model as user, assistant or toolResult.
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
  UserMessage,
} from "../contract/message.ts";
import { wrapRecord } from "./record-text.ts";

/** The three roles that wires know; everything else is shown as a user's text. */
export type ModelMessage = UserMessage | AssistantMessage | ToolResultMessage;

/**
 * The message as a model sees it; undefined when it must not be sent (a shell command
 * kept out of the context).
 */
export function toModelMessage(message: AgentMessage): ModelMessage | undefined {
  switch (message.role) {
    case "user":
    case "assistant":
    case "toolResult":
      return message;
    case "custom":
      return user(message, message.content);
    case "bashExecution":
      return message.excludeFromContext ? undefined : user(message, shellText(message));
    case "compactionSummary":
      return user(
        message,
        `The earlier part of this session was replaced by the record below.\n\n${wrapRecord(message.summary)}`,
      );
    case "branchSummary":
      return user(
        message,
        `The session went on from an earlier point; the record below covers the branch that was left.\n\n${wrapRecord(message.summary)}`,
      );
  }
}

/** Still the same message, so it keeps what the host wrote on it. */
function user(
  { timestamp, __openclaw }: AgentMessage,
  content: UserMessage["content"],
): UserMessage {
  return {
    role: "user",
    content,
    ...(timestamp !== undefined && { timestamp }),
    ...(__openclaw !== undefined && { __openclaw }),
  };
}

function shellText(message: Extract<AgentMessage, { role: "bashExecution" }>): string {
  const notes = [
    ...(message.cancelled
      ? ["(cancelled)"]
      : message.exitCode
        ? [`(exit code ${message.exitCode})`]
        : []),
    ...(message.truncated && message.fullOutputPath
      ? [`(cut; full output in ${message.fullOutputPath})`]
      : []),
  ];
  return [`The person ran: ${message.command}`, "```", message.output, "```", ...notes].join("\n");
}
