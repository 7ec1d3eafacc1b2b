// Builds messages in words, such as user("hi") and toolResult(call, "text").
import type {
  AgentMessage,
  AssistantBlock,
  AssistantMessage,
  ToolCallBlock,
  ToolResultBlock,
  ToolResultMessage,
  UserBlock,
  UserMessage,
} from "../contract/message.ts";

/**
 * Timestamp of every built message that is given none, and of a conversation's
 * first: 2026-01-01T00:00:00Z.
 */
export const FIRST_TIMESTAMP = 1_767_225_600_000;

/** A person's message. */
export function user(
  content: string | UserBlock[],
  extras: Partial<UserMessage> = {},
): UserMessage {
  return { role: "user", content, timestamp: FIRST_TIMESTAMP, ...extras };
}

/** A model's message; its stop reason is "toolUse" when it calls a tool, else "stop". */
export function assistant(
  content: string | AssistantBlock[],
  extras: Partial<AssistantMessage> = {},
): AssistantMessage {
  const blocks: AssistantBlock[] =
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  const stopReason = blocks.some((block) => block.type === "toolCall") ? "toolUse" : "stop";
  return { role: "assistant", content: blocks, stopReason, timestamp: FIRST_TIMESTAMP, ...extras };
}

/**
 * A block that calls a tool. Without an id, equal calls have equal ids: give ids
 * where a call is repeated.
 */
export function toolCall(
  name: string,
  args: Record<string, unknown> = {},
  id = `call_${name}_${hash(JSON.stringify(args))}`,
): ToolCallBlock {
  return { type: "toolCall", id, name, arguments: args };
}

/** The result of `call`, or of any call of that id and name. */
export function toolResult(
  call: Pick<ToolCallBlock, "id" | "name">,
  content: string | ToolResultBlock[],
  extras: Partial<ToolResultMessage> = {},
): ToolResultMessage {
  const blocks: ToolResultBlock[] =
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: blocks,
    isError: false,
    timestamp: FIRST_TIMESTAMP,
    ...extras,
  };
}

/** How long a built conversation is. */
export interface ConversationOptions {
  /** Number of questions, each with its answer. */
  turns: number;
  /** Tool calls in each turn, all of one assistant message. Absent: 0. */
  tools?: number;
  /** Characters of each tool result. Absent: 200. */
  toolResultChars?: number;
}

/**
 * A conversation, the same every time: each turn asks about its own number and is answered with it;
 * one second between messages.
 */
export function conversation({
  turns,
  tools = 0,
  toolResultChars = 200,
}: ConversationOptions): AgentMessage[] {
  const messages = Array.from({ length: turns }, (_, turn) =>
    oneTurn(turn + 1, tools, toolResultChars),
  ).flat();
  return messages.map((message, index) => ({
    ...message,
    timestamp: FIRST_TIMESTAMP + index * 1000,
  }));
}

function oneTurn(turn: number, tools: number, toolResultChars: number): AgentMessage[] {
  const calls = Array.from({ length: tools }, (_, index) =>
    toolCall("read", { path: `notes-${turn}.md` }, `call_${turn}_${index}`),
  );
  return [
    user(`Question ${turn}: what do the notes say about item ${turn}?`),
    ...(calls.length === 0 ? [] : [assistant(calls)]),
    ...calls.map((call) =>
      toolResult(
        call,
        `Item ${turn} weighs ${turn} kg. `.repeat(toolResultChars).slice(0, toolResultChars),
      ),
    ),
    assistant(`Answer ${turn}: item ${turn} weighs ${turn} kg.`),
  ];
}

function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, "0");
}
