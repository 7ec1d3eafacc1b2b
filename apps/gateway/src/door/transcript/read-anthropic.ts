// Reads a message of Anthropic's Messages for the transcript.
import type { AssistantBlock } from "@clew/plugin-sdk/core";
import type { JsonObject } from "../wires/door-wire.ts";
import { objectsOf, recordOf, textOf } from "../wires/json.ts";
import { argumentsOf, imageAt, shownBlocks, textBlock, type WireRead } from "./wire-read.ts";

/** A message with results and a person's words beside is both, the results first. */
export function readAnthropic(message: JsonObject): WireRead[] {
  if (message.role === "assistant") return [{ by: "model", content: replyBlocks(message.content) }];
  if (message.role === "system")
    return [{ by: "system", content: shownBlocks(message.content, imageOf) }];
  if (typeof message.content === "string")
    return [{ by: "person", content: shownBlocks(message.content, imageOf) }];
  const blocks = objectsOf(message.content);
  const results = blocks.filter(({ type }) => type === "tool_result");
  const said = shownBlocks(
    blocks.filter(({ type }) => type !== "tool_result"),
    imageOf,
  );
  return [
    ...results.map(
      (block): WireRead => ({
        by: "tool",
        id: textOf(block.tool_use_id),
        name: "",
        content: shownBlocks(block.content, imageOf),
        isError: block.is_error === true,
      }),
    ),
    ...(said.length > 0 || results.length === 0 ? [{ by: "person" as const, content: said }] : []),
  ];
}

function imageOf({ type, source }: JsonObject) {
  const { media_type: mimeType, data } = recordOf(source);
  return type === "image" ? imageAt(`data:${textOf(mimeType)};base64,${textOf(data)}`) : undefined;
}

function replyBlocks(content: unknown): AssistantBlock[] {
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)];
  return objectsOf(content).map((block): AssistantBlock => {
    switch (block.type) {
      case "text":
        return textBlock(textOf(block.text));
      case "thinking":
        return {
          type: "thinking",
          thinking: textOf(block.thinking),
          thinkingSignature: textOf(block.signature),
          carrier: "signed",
        };
      case "redacted_thinking":
        return { type: "redacted_thinking", data: textOf(block.data) };
      case "tool_use":
        return {
          type: "toolCall",
          id: textOf(block.id),
          name: textOf(block.name),
          arguments: argumentsOf(block.input),
        };
      default:
        return textBlock(`[${textOf(block.type)}]`);
    }
  });
}
