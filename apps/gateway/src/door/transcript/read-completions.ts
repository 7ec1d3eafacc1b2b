// Reads a message of Chat Completions for the transcript.
import type { AssistantBlock } from "@clew/plugin-sdk/core";
import type { JsonObject } from "../wires/door-wire.ts";
import { objectsOf, recordOf, textOf } from "../wires/json.ts";
import { argumentsOf, imageAt, shownBlocks, type WireRead } from "./wire-read.ts";

export function readCompletions(message: JsonObject): WireRead[] {
  const content = shownBlocks(message.content, imageOf);
  switch (message.role) {
    case "assistant":
      return [
        { by: "model", content: [...thinkingOf(message), ...texts(content), ...callsOf(message)] },
      ];
    case "tool":
    case "function":
      return [
        {
          by: "tool",
          id: textOf(message.tool_call_id),
          name: textOf(message.name),
          content,
          isError: false,
        },
      ];
    case "system":
    case "developer":
      return [{ by: "system", content }];
    default:
      return [{ by: "person", content }];
  }
}

const imageOf = (part: JsonObject) => imageAt(textOf(recordOf(part.image_url).url));

const texts = (content: ReturnType<typeof shownBlocks>): AssistantBlock[] =>
  content.filter((block) => block.type === "text");

function thinkingOf(message: JsonObject): AssistantBlock[] {
  for (const carrier of ["reasoning_content", "reasoning"] as const) {
    const thinking = textOf(message[carrier]);
    if (thinking !== "") return [{ type: "thinking", thinking, carrier }];
  }
  return [];
}

const callsOf = (message: JsonObject): AssistantBlock[] =>
  objectsOf(message.tool_calls).map((call) => {
    const { name, arguments: given } = recordOf(call.function);
    return {
      type: "toolCall",
      id: textOf(call.id),
      name: textOf(name),
      arguments: argumentsOf(given),
    };
  });
