// How messages of every role reach a model as user, assistant or toolResult.
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
  UserMessage,
} from "../contract/message.ts";
import { splitLedger } from "./ledger-section.ts";
import { wrapRecord } from "./wrap-record.ts";

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
        `The earlier part of this session was replaced by the summary below.\n\n${summaryRecord(message.summary)}`,
      );
    case "branchSummary":
      return user(
        message,
        `The session went on from an earlier point; the summary below covers the branch that was left.\n\n${summaryRecord(message.summary)}`,
      );
  }
}

/** A summary, and its ledger in a tag of its own. */
function summaryRecord(text: string): string {
  const { summary, ledger } = splitLedger(text);
  const record = wrapRecord("summary", summary);
  return ledger === "" ? record : `${record}\n\n${wrapRecord("ledger", ledger)}`;
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
