// The text of a message as a person reads what a model was sent.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { AgentMessageSchema } from "@clew/plugin-sdk/host";
import { textOf, toModelMessage } from "@clew/plugin-sdk/transcript";
import { fromJson, toJson } from "../own-json.ts";

/** Text, as a model is shown it, and tool calls; images are named, not shown. */
export function messageText(message: AgentMessage): string {
  const text = textOf(toModelMessage(message) ?? message);
  if (message.role !== "assistant" || !Array.isArray(message.content)) return text;
  const calls = message.content.flatMap((block) =>
    block.type === "toolCall" ? [`→ ${block.name} ${toJson(block.arguments)}`] : [],
  );
  return [text, ...calls].filter((each) => each !== "").join("\n");
}

/** The message that a stored part holds; undefined: it holds none. */
export function messageInPart(part: string): AgentMessage | undefined {
  try {
    // As it was written: the schema would order its fields.
    const value: unknown = fromJson(part);
    return AgentMessageSchema.safeParse(value).success ? (value as AgentMessage) : undefined;
  } catch {
    return undefined;
  }
}
