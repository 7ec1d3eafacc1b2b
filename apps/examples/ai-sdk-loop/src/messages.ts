// Which message of the AI SDK is which message of an engine, texts and tools.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import { textOf, toModelMessage } from "@clew/plugin-sdk/transcript";
import type {
  AssistantContent,
  ModelMessage,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserContent,
} from "ai";

/** What an engine is given. A message with the results of several tools is one message each. */
export function fromModelMessage(message: ModelMessage): AgentMessage[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return [{ role: "user", content: textsOf(message.content) }];
    case "assistant":
      return [fromAssistant(message.content)];
    case "tool":
      return message.content.flatMap((part) =>
        part.type === "tool-result" ? fromResult(part) : [],
      );
  }
}

function fromResult({ toolCallId, toolName, output }: ToolResultPart): AgentMessage {
  const text =
    "value" in output && typeof output.value === "string" ? output.value : JSON.stringify(output);
  const isError = output.type.startsWith("error") || output.type === "execution-denied";
  return { role: "toolResult", toolCallId, toolName, isError, content: [{ type: "text", text }] };
}

function fromAssistant(content: AssistantContent): AgentMessage {
  const blocks = blocksOf(content);
  const stopReason = blocks.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
  return { role: "assistant", content: blocks, stopReason };
}

function blocksOf(content: AssistantContent): AssistantMessage["content"] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.flatMap((part): AssistantMessage["content"] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type !== "tool-call") return [];
    const { toolCallId: id, toolName: name, input } = part;
    return [{ type: "toolCall", id, name, arguments: input as Record<string, unknown> }];
  });
}

/** What the model is given: summaries and notes of an engine as a person's text. */
export const toModelMessages = (messages: readonly AgentMessage[]): ModelMessage[] =>
  messages.flatMap((each) => {
    const message = toModelMessage(each);
    return message === undefined ? [] : [shown(message)];
  });

function shown(message: NonNullable<ReturnType<typeof toModelMessage>>): ModelMessage {
  if (message.role === "user") return { role: "user", content: textOf(message) };
  if (message.role === "assistant")
    return { role: "assistant", content: message.content.flatMap(toPart) };
  const { toolCallId, toolName, isError } = message;
  const output = { type: isError ? "error-text" : "text", value: textOf(message) } as const;
  return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] };
}

function toPart(block: AssistantMessage["content"][number]): (TextPart | ToolCallPart)[] {
  if (block.type === "text") return [{ type: "text", text: block.text }];
  if (block.type !== "toolCall") return [];
  const { id: toolCallId, name: toolName, arguments: input } = block;
  return [{ type: "tool-call", toolCallId, toolName, input }];
}

const textsOf = (content: UserContent): string =>
  typeof content === "string"
    ? content
    : content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
