// Reads an item of Responses for the transcript.
import { toJson } from "../../own-json.ts";
import type { JsonObject } from "../wires/door-wire.ts";
import { textOf } from "../wires/json.ts";
import { chatText } from "../wires/openai-completions.ts";
import { declaresTools, givenIn } from "../wires/openai-responses.ts";
import { argumentsOf, imageAt, shownBlocks, textBlock, type WireRead } from "./wire-read.ts";

export function readResponses(item: JsonObject): WireRead[] {
  if (declaresTools(item)) return [];
  const { role } = item;
  if (role === "assistant") {
    const text = chatText(item.content);
    return [{ by: "model", content: text === "" ? [] : [textBlock(text)] }];
  }
  if (role !== undefined) {
    const by = role === "system" || role === "developer" ? "system" : "person";
    return [{ by, content: shownBlocks(item.content, imageOf) }];
  }
  const type = textOf(item.type);
  if (type === "reasoning") return [thought(item)];
  const id = textOf(item.call_id) || textOf(item.id);
  if (type.endsWith("_output"))
    return [
      { by: "tool", id, name: "", content: shownBlocks(item.output, imageOf), isError: false },
    ];
  // Calls that a provider ran itself have no name but their type.
  const name = textOf(item.name) || type.replace(/_call$/, "");
  const given = argumentsOf(givenIn(item));
  return [{ by: "model", content: [{ type: "toolCall", id, name, arguments: given }] }];
}

const imageOf = (part: JsonObject) => imageAt(textOf(part.image_url));

/** The item itself is the proof that its provider reads. */
const thought = (item: JsonObject): WireRead => ({
  by: "model",
  content: [
    {
      type: "thinking",
      thinking: chatText(item.summary) || chatText(item.content),
      thinkingSignature: toJson(item),
      carrier: "item",
    },
  ],
});
