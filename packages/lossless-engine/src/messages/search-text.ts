// What a search finds a message by.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { blocksOf, textOf } from "@clew/plugin-sdk/transcript";

/** All that the message says, thinks, asks tools for and reports as an error; no pictures. */
export function searchTextOf(message: AgentMessage): string {
  if (message.role !== "assistant") return textOf(message);
  const said = blocksOf(message.content).map((block) => {
    switch (block.type) {
      case "text":
        return String(block.text);
      case "thinking":
        return String(block.thinking);
      case "toolCall":
        return `${block.name} ${argumentsText(block.arguments)}`;
      default:
        return "";
    }
  });
  return [...said, message.errorMessage ?? ""].filter((text) => text !== "").join("\n");
}

/** One below the other; texts as they are, so that they can be found and quoted word for word. */
function argumentsText(given: unknown): string {
  if (typeof given !== "object" || given === null) return JSON.stringify(given) ?? "";
  return Object.entries(given)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}
